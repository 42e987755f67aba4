(** Stage 2 of Synergy-OPT: how many jobs a vertex of the placement LP splits,
    and how many recursive bisection cuts. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Proofs Require Import Vertices Ideal.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sums.
Variables (R : realFieldType) (A B : finType).

Lemma sum_pair (f : A * B -> R) : \sum_v f v = \sum_a \sum_b f (a, b).
Proof. by rewrite pair_bigA; apply: eq_bigr => -[]. Qed.

Lemma sum_col (f : A * B -> R) b : \sum_v (v.2 == b)%:R * f v = \sum_a f (a, b).
Proof.
rewrite sum_pair; apply: eq_bigr => a _ /=.
rewrite (bigD1 b) //= eqxx mul1r big1 ?addr0 // => c /negPf->; exact: mul0r.
Qed.

Lemma sum_row (f h : A * B -> R) a :
  \sum_v (v.1 == a)%:R * h v * f v = \sum_b h (a, b) * f (a, b).
Proof.
rewrite sum_pair (bigD1 a) //= [X in _ + X]big1 ?addr0 => [|c /negPf ca].
  by apply: eq_bigr => b _; rewrite eqxx mul1r.
by rewrite big1 // => b _; rewrite ca !mul0r.
Qed.

Lemma card_pairs (P : {set A * B}) : #|P| = (\sum_b #|[set a | (a, b) \in P]|)%N.
Proof.
rewrite -sum1_card (partition_big (fun v => v.2) xpredT) //=.
apply: eq_bigr => b _; rewrite -sum1_card.
rewrite (reindex_onto (fun a => (a, b)) (fun v => v.1)) /=.
  by apply: eq_bigl => a; rewrite inE !eqxx !andbT.
by case=> a c /= /andP[_ /eqP->].
Qed.

End Sums.

Section Placement.
Variables (R : realFieldType) (Server Job Resource : finType).
Variables (demand : Job -> Resource -> R) (capacity : Server -> Resource -> R).

(** [x (i, j)]: the part of job [j] on server [i].  GPUs are one of the resources. *)
Definition placement (x : Server * Job -> R) : Prop :=
  [/\ forall i j, 0 <= x (i, j),
      forall j, \sum_i x (i, j) = 1
    & forall i r, \sum_j demand j r * x (i, j) <= capacity i r].

Definition pieces_of (x : Server * Job -> R) (j : Job) : {set Server} :=
  [set i | 0 < x (i, j)].
Definition split_jobs (x : Server * Job -> R) : {set Job} :=
  [set j | (1 < #|pieces_of x j|)%N].
Definition tight_rows (x : Server * Job -> R) : {set Server * Resource} :=
  [set ir | \sum_j demand j ir.2 * x (ir.1, j) == capacity ir.1 ir.2].

Lemma pieces_card x : #|support x| = (\sum_j #|pieces_of x j|)%N.
Proof.
by rewrite card_pairs; apply: eq_bigr => j _; apply: eq_card => i; rewrite !inE.
Qed.

Lemma has_piece x j : placement x -> (0 < #|pieces_of x j|)%N.
Proof.
move=> [x0 x1 _]; rewrite card_gt0; apply/set0Pn.
case: (pickP (fun i => 0 < x (i, j))) => [i xi|none]; first by exists i; rewrite inE.
have /eqP := x1 j; rewrite big1 ?[0 == 1]eq_sym ?oner_eq0 // => i _.
by apply/eqP; rewrite eq_le x0 andbT leNgt none.
Qed.

(** Each job has a piece, a split job two. *)
Lemma split_le_pieces x : placement x -> (#|Job| + #|split_jobs x| <= #|support x|)%N.
Proof.
move=> xP; rewrite pieces_card.
have -> : #|split_jobs x| = (\sum_j (j \in split_jobs x))%N.
  by rewrite -sum1_card big_mkcond.
rewrite -sum1_card -big_split /=; apply: leq_sum => j _.
by rewrite inE; have := has_piece j xP; case: #|pieces_of x j| => [|[|n]].
Qed.

(** Moving along a direction that no row sees stays feasible. *)
Lemma placement_move x d c :
  placement x -> (forall j, \sum_i d (i, j) = 0) -> (forall v, `|c * d v| <= x v) ->
  (forall i r, c * (\sum_j demand j r * d (i, j))
               <= capacity i r - \sum_j demand j r * x (i, j)) ->
  placement (fun v => x v + c * d v).
Proof.
move=> [x0 x1 xc] dj dx dr; split.
- move=> i j; rewrite -ler_subl_addl sub0r.
  by have := dx (i, j); rewrite ler_norml => /andP[].
- by move=> j; rewrite big_split /= x1 -big_distrr /= dj mulr0 addr0.
- move=> i r; have -> : \sum_j demand j r * (x (i, j) + c * d (i, j))
    = c * (\sum_j demand j r * d (i, j)) + \sum_j demand j r * x (i, j).
    rewrite big_distrr /= -big_split /=; apply: eq_bigr => j _.
    by rewrite mulrDr addrC mulrCA.
  by rewrite -ler_subr_addr.
Qed.

(** A vertex has at most as many pieces as there are functionals that force
    all its equations and tight rows. *)
Lemma vertex_pieces x (F : finType) (g : F -> Server * Job -> R) :
  vertex placement x ->
  (forall d, (forall v, v \notin support x -> d v = 0) ->
     (forall f, \sum_v g f v * d v = 0) ->
     (forall j, \sum_i d (i, j) = 0) /\
     (forall ir, ir \in tight_rows x -> \sum_j demand j ir.2 * d (ir.1, j) = 0)) ->
  (#|support x| <= #|F|)%N.
Proof.
move=> vx Hg; rewrite leqNgt; apply/negP => /(dependency g)[d [[v0 v0S dv0] dS dg]].
have [dj dt] := Hg d dS dg; have [xP _] := vx; have [x0 x1 xc] := xP.
have [|e1 e1_gt0 He1] := @small_step R _ (mem (support x)) x d.
  by move=> v; rewrite /= inE.
pose room (ir : Server * Resource) := capacity ir.1 ir.2 - \sum_j demand j ir.2 * x (ir.1, j).
pose slope (ir : Server * Resource) := \sum_j demand j ir.2 * d (ir.1, j).
have [|e2 e2_gt0 He2] := @small_step R _ [pred ir | ir \notin tight_rows x] room slope.
  by case=> i r /=; rewrite inE /= => ne; rewrite subr_gt0 lt_neqAle ne xc.
pose e := Num.min e1 e2; have e_gt0 : 0 < e by rewrite lt_minr e1_gt0.
have le_norm (a b : R) : 0 < b -> b <= a -> forall q, `|b * q| <= `|a * q|.
  move=> b0 ba q; rewrite !normrM ler_wpmul2r // !gtr0_norm //; exact: lt_le_trans ba.
have xd v : `|e * d v| <= x v.
  have [vS|/dS->] := boolP (v \in support x); last by rewrite mulr0 normr0; case: v.
  by apply: le_trans (He1 v vS); apply: le_norm => //; rewrite le_minl lexx.
have rd ir : `|e * slope ir| <= room ir.
  have [/dt|ir_loose] := boolP (ir \in tight_rows x).
    by rewrite /slope => ->; rewrite mulr0 normr0 subr_ge0 xc.
  by apply: le_trans (He2 _ ir_loose); apply: le_norm => //; rewrite le_minl lexx orbT.
have Pe : placement (fun v => x v + e * d v).
  by apply: placement_move => // i r; apply: le_trans (rd (i, r)); rewrite ler_norm.
have Pn : placement (fun v => x v + - e * d v).
  apply: placement_move => // [v|i r]; rewrite mulNr ?normrN //.
  by apply: le_trans (rd (i, r)); rewrite -normrN ler_norm.
by move: dv0; rewrite (vertex_no_direction vx e_gt0 Pe Pn) eqxx.
Qed.

(** ** Pieces against tight rows *)
Theorem vertex_pieces_tight x : vertex placement x ->
  (#|support x| <= #|Job| + #|tight_rows x|)%N.
Proof.
move=> vx.
pose T := {ir | ir \in tight_rows x}.
pose g (f : Job + T) (v : Server * Job) : R := match f with
  | inl j => (v.2 == j)%:R
  | inr ir => (v.1 == (val ir).1)%:R * demand v.2 (val ir).2 end.
have -> : (#|Job| + #|tight_rows x|)%N = #|{: Job + T}|.
  by rewrite card_sum card_sig.
apply: (@vertex_pieces x _ g vx) => d dS dg; split.
  by move=> j; have := dg (inl j); rewrite sum_col.
by move=> ir irT; have := dg (inr (Sub ir irT)); rewrite (sum_row d (fun v => demand v.2 ir.2)).
Qed.

(** ** Pieces against components

    [class] and [classj] name the parts of the graph of pieces: a piece joins a
    server and a job of the same part.  In each part one server's rows follow
    from all the others, for every resource. *)
Theorem vertex_pieces_components x (C : finType) (class : Server -> C) (classj : Job -> C) :
  vertex placement x -> (forall i j, 0 < x (i, j) -> class i = classj j) ->
  (#|support x| <= #|Job| + #|Resource| * (#|Server| - #|[set class i | i : Server]|))%N.
Proof.
move=> vx xclass.

pose rep c := [pick i | class i == c].
pose chosen := [set i | rep (class i) == Some i].
have card_chosen : #|chosen| = #|[set class i | i : Server]|.
  rewrite -(@card_in_imset _ _ class (mem chosen)).
    apply: eq_card => c; apply/imsetP/imsetP => -[i iP ->]; first by exists i.
    case rE: (rep (class i)) => [i'|]; last first.
      by move: rE; rewrite /rep; case: pickP => // /(_ i); rewrite eqxx.
    have ci : class i' = class i by move: rE; rewrite /rep; case: pickP => // k /eqP <- [->].
    by exists i'; rewrite // inE ci rE.
  move=> i i' /=; rewrite !inE => /eqP ri /eqP ri' ci.
  by move: ri; rewrite ci ri' => -[].
pose N := {i | i \notin chosen}.
pose g (f : Job + Resource * N) (v : Server * Job) : R := match f with
  | inl j => (v.2 == j)%:R
  | inr (r, i) => (v.1 == val i)%:R * demand v.2 r end.
have -> : (#|Job| + #|Resource| * (#|Server| - #|[set class i | i : Server]|))%N
          = #|{: Job + Resource * N}|.
  rewrite card_sum card_prod card_sig; congr (_ + _ * _)%N.
  by rewrite -card_chosen -(cardC (mem chosen)) addKn.
apply: (@vertex_pieces x _ g vx) => d dS dg.
have dj j : \sum_i d (i, j) = 0 by have := dg (inl j); rewrite sum_col.
split=> // -[i r] _ /=.
have dN i' : i' \notin chosen -> \sum_j demand j r * d (i', j) = 0.
  move=> iN; have := dg (inr (r, Sub i' iN)).
  by rewrite (sum_row d (fun v => demand v.2 r)).
have [ic|/dN//] := boolP (i \in chosen).
have all0 : \sum_(i' | class i' == class i) \sum_j demand j r * d (i', j) = 0.
  rewrite exchange_big big1 //= => j _; rewrite -big_distrr /=.
  suff -> : \sum_(i' | class i' == class i) d (i', j) = 0 by rewrite mulr0.
  have [cj|ncj] := eqVneq (classj j) (class i).
    rewrite -[RHS](dj j) big_mkcond /=; apply: eq_bigr => i' _; case: ifPn => // ci'.
    rewrite dS // inE; apply: contra ci' => /xclass->; exact/eqP.
  rewrite big1 // => i' /eqP ci'; rewrite dS // inE; apply: contra ncj => /xclass <-.
  exact/eqP.
move: all0; rewrite (bigD1 i) //= [X in _ + X]big1 ?addr0 // => i' /andP[/eqP ci' ne].
apply: dN; apply: contra ne; rewrite inE ci' => /eqP; move: ic; rewrite inE => /eqP->.
by move=> [->].
Qed.

Theorem vertex_pieces_bound x : vertex placement x ->
  (#|support x| <= #|Job| + #|Resource| * (#|Server| - 1))%N.
Proof.
move=> vx; have := @vertex_pieces_components x unit_finType (fun=> tt) (fun=> tt) vx (fun _ _ _ => erefl).
move/leq_trans; apply; rewrite leq_add2l leq_mul2l; apply/orP; right.
case: (pickP (mem Server)) => [i _|none]; last by rewrite (eq_card0 none).
by rewrite leq_sub2l // card_gt0; apply/set0Pn; exists tt; apply/imsetP; exists i.
Qed.

Theorem split_bound x : vertex placement x ->
  (#|split_jobs x| <= #|Resource| * (#|Server| - 1))%N.
Proof.
move=> vx; have [xP _] := vx; rewrite -(leq_add2l #|Job|).
exact: leq_trans (split_le_pieces xP) (vertex_pieces_bound vx).
Qed.

Theorem split_bound_tight x : vertex placement x -> (#|split_jobs x| <= #|tight_rows x|)%N.
Proof.
move=> vx; have [xP _] := vx; rewrite -(leq_add2l #|Job|).
exact: leq_trans (split_le_pieces xP) (vertex_pieces_tight vx).
Qed.

End Placement.

(** ** Recursive bisection

    To place on [a + b] identical servers, cut the jobs into two parts whose
    demands are exactly [a : b] in every resource, at most one cut a resource,
    and go on in each part. *)
Section Bisection.
Variables (R : realFieldType) (Job Resource : finType) (demand : Job -> Resource -> R).
Notation part := {ffun Job -> R}.

Definition used (p : part) (r : Resource) : R := \sum_j demand j r * p j.
Definition nonneg (p : part) : Prop := forall j, 0 <= p j.

(** The jobs that a cut divides. *)
Definition cut_jobs (p1 p2 : part) : {set Job} := [set j | (0 < p1 j) && (0 < p2 j)].

Inductive bisection : nat -> part -> seq part -> Prop :=
| one_server p : bisection 1 p [:: p]
| cut a b (p p1 p2 : part) (x1 x2 : seq part) :
    nonneg p1 -> nonneg p2 -> (forall j, p1 j + p2 j = p j) ->
    (forall r, used p1 r = a%:R / (a + b)%:R * used p r) ->
    (#|cut_jobs p1 p2| <= #|Resource|)%N ->
    (0 < a)%N -> (0 < b)%N ->
    bisection a p1 x1 -> bisection b p2 x2 -> bisection (a + b) p (x1 ++ x2).

Lemma bisection_pos s p x : bisection s p x -> (0 < s)%N.
Proof. by elim=> // a b *; rewrite addn_gt0; apply/orP; left. Qed.

Lemma used_add (p p1 p2 : part) r :
  (forall j, p1 j + p2 j = p j) -> used p1 r + used p2 r = used p r.
Proof.
by move=> pE; rewrite /used -big_split /=; apply: eq_bigr => j _; rewrite -mulrDr pE.
Qed.

Theorem bisection_sound s p x : nonneg p -> bisection s p x ->
  [/\ size x = s,
      forall y, y \in x -> nonneg y /\ forall r, used y r = used p r / s%:R,
      forall j, \sum_(y <- x) y j = p j
    & (\sum_(y <- x) #|support y| <= #|support p| + #|Resource| * (s - 1))%N].
Proof.
move=> + B; elim: B => {s p x} [p p0|a b p p1 p2 x1 x2 p1_0 p2_0 pE pa cuts a0 b0 B1 IH1 B2 IH2 p0].
  split=> //; last by rewrite big_seq1 subnn muln0 addn0.
    by move=> y; rewrite inE => /eqP->; split=> // r; rewrite divr1.
  by move=> j; rewrite big_seq1.
have [sz1 y1 s1 c1] := IH1 p1_0; have [sz2 y2 s2 c2] := IH2 p2_0.
have ab0 : (a + b)%:R != 0 :> R by rewrite pnatr_eq0 addn_eq0 negb_and -!lt0n a0.
have an0 : a%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have bn0 : b%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have cancel (c n u : R) : c != 0 -> c / n * u / c = u / n.
  by move=> c0; rewrite mulrAC [c / n]mulrC mulfK // mulrC.
split.
- by rewrite size_cat sz1 sz2.
- move=> y; rewrite mem_cat => /orP[/y1|/y2] [y_0 yr]; split=> // r; rewrite yr.
    by rewrite pa cancel.
  have -> : used p2 r = b%:R / (a + b)%:R * used p r.
    apply: (addrI (used p1 r)); rewrite (used_add r pE) pa -mulrDl -mulrDl -natrD.
    by rewrite divff // mul1r.
  by rewrite cancel.
- by move=> j; rewrite big_cat /= s1 s2 pE.
rewrite big_cat /=; apply: leq_trans (leq_add c1 c2) _.
have cards : (#|support p1| + #|support p2| <= #|support p| + #|Resource|)%N.
  rewrite -cardsUI; apply: leq_add.
    apply: subset_leq_card; apply/subsetP => j; rewrite !inE -pE.
    by case/orP=> ?; [rewrite ltr_spaddl | rewrite ltr_paddl].
  apply: leq_trans cuts; apply: subset_leq_card; apply/subsetP => j.
  by rewrite !inE.
rewrite addnACA; apply: leq_trans (leq_add cards (leqnn _)) _.
rewrite -addnA leq_add2l -mulnDr -{1}[#|Resource|]muln1 -mulnDr leq_mul2l.
apply/orP; right; case: a a0 {B1 IH1 pa c1 sz1 y1 s1 ab0 an0} => // a _.
case: b b0 {B2 IH2 c2 sz2 y2 s2 bn0} => // b _.
by rewrite !subn1 add1n addSn addnS.
Qed.

(** As it is run: a half may get more or less than its part of the demand, as long
    as no server is overfull in the end, and parts that fit on their servers
    without a cut are not cut. *)
Inductive halving (each : Resource -> R) : nat -> part -> seq part -> Prop :=
| uncut (p : part) (x : seq part) :
    (0 < size x)%N ->
    (forall y, y \in x -> nonneg y /\ forall r, used y r <= each r) ->
    (forall j, \sum_(y <- x) y j = p j) ->
    (\sum_(y <- x) #|support y| <= #|support p|)%N -> halving each (size x) p x
| cut_within a b (p p1 p2 : part) (x1 x2 : seq part) :
    nonneg p1 -> nonneg p2 -> (forall j, p1 j + p2 j = p j) ->
    (#|cut_jobs p1 p2| <= #|Resource|)%N ->
    halving each a p1 x1 -> halving each b p2 x2 -> halving each (a + b) p (x1 ++ x2).

Lemma halving_pos each s p x : halving each s p x -> (0 < s)%N.
Proof. by elim=> // a b *; rewrite addn_gt0; apply/orP; left. Qed.

Theorem halving_sound each s p x : halving each s p x ->
  [/\ size x = s,
      forall y, y \in x -> nonneg y /\ forall r, used y r <= each r,
      forall j, \sum_(y <- x) y j = p j
    & (\sum_(y <- x) #|support y| <= #|support p| + #|Resource| * (s - 1))%N].
Proof.
elim=> {s p x} [p x x0 fit sums few|a b p p1 p2 x1 x2 p1_0 p2_0 pE cuts B1 IH1 B2 IH2].
  by split=> //; apply: leq_trans few _; exact: leq_addr.
have [sz1 y1 s1 c1] := IH1; have [sz2 y2 s2 c2] := IH2.
have a0 := halving_pos B1; have b0 := halving_pos B2; split.
- by rewrite size_cat sz1 sz2.
- by move=> y; rewrite mem_cat => /orP[/y1|/y2].
- by move=> j; rewrite big_cat /= s1 s2 pE.
rewrite big_cat /=; apply: leq_trans (leq_add c1 c2) _.
have cards : (#|support p1| + #|support p2| <= #|support p| + #|Resource|)%N.
  rewrite -cardsUI; apply: leq_add.
    apply: subset_leq_card; apply/subsetP => j; rewrite !inE -pE.
    by case/orP=> ?; [rewrite ltr_spaddl | rewrite ltr_paddl].
  apply: leq_trans cuts; apply: subset_leq_card; apply/subsetP => j.
  by rewrite !inE.
rewrite addnACA; apply: leq_trans (leq_add cards (leqnn _)) _.
rewrite -addnA leq_add2l -mulnDr -{1}[#|Resource|]muln1 -mulnDr leq_mul2l.
apply/orP; right; case: a a0 {B1 IH1 c1 sz1 y1 s1} => // a _.
case: b b0 {B2 IH2 c2 sz2 y2 s2} => // b _.
by rewrite !subn1 add1n addSn addnS.
Qed.

(** Whatever way the servers are halved, the cuts exist. *)
Theorem bisection_exists (half : nat -> nat) :
  (forall s, 1 < s -> 0 < half s < s)%N ->
  forall s p, (0 < s)%N -> nonneg p -> exists x, bisection s p x.
Proof.
move=> halfP s; have [n] := ubnP s; elim: n s => // n IH s; rewrite ltnS => sn p s0 p0.
have [s1|s1] := leqP s 1.
  have -> : s = 1%N by apply/eqP; rewrite eqn_leq s1.
  by exists [:: p]; constructor.
have /andP[a0 a_s] := halfP s s1; set a := half s in a0 a_s; pose b := (s - a)%N.
have sE : s = (a + b)%N by rewrite subnKC // ltnW.
have b0 : (0 < b)%N by rewrite subn_gt0.
pose c : R := a%:R / s%:R.
have c0 : 0 <= c by rewrite divr_ge0 // ler0n.
have c1 : c <= 1 by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat ltnW.
have [|y [yB yg _ yc _]] :=
  @exchange R Job Resource (fun r j => demand j r) (fun=> 0) p (fun j => c * p j).
  by move=> j; rewrite mulr_ge0 // ler_pimull.
pose p1 : part := [ffun j => y j]; pose p2 : part := [ffun j => p j - y j].
have p1_0 : nonneg p1 by move=> j; rewrite ffunE; case/andP: (yB j).
have p2_0 : nonneg p2 by move=> j; rewrite ffunE subr_ge0; case/andP: (yB j).
have [|x1 B1] := IH a _ p1 a0 p1_0; first exact: leq_trans sn.
have [|x2 B2] := IH b _ p2 b0 p2_0.
  by apply: leq_trans sn; rewrite /b ltn_subrL a0.
exists (x1 ++ x2); rewrite sE; apply: (@cut a b p p1 p2) => //.
- by move=> j; rewrite !ffunE addrC subrK.
- move=> r; rewrite -sE -/c /used; transitivity (\sum_j demand j r * y j).
    by apply: eq_bigr => j _; rewrite ffunE.
  by rewrite yg big_distrr /=; apply: eq_bigr => j _; rewrite mulrCA.
- apply: leq_trans yc; apply: subset_leq_card; apply/subsetP => j.
  by rewrite !inE !ffunE subr_gt0.
Qed.

End Bisection.

(** Together: jobs whose demands fit on [s] identical servers in sum are placed on
    them one by one. *)
Theorem bisection_places (R : realFieldType) (Job Resource : finType)
    (demand : Job -> Resource -> R) (each : Resource -> R) (s : nat) (half : nat -> nat) :
  (forall n, 1 < n -> 0 < half n < n)%N -> (0 < s)%N ->
  (forall r, \sum_j demand j r <= s%:R * each r) ->
  exists x : seq {ffun Job -> R},
    [/\ size x = s,
        forall y, y \in x -> (forall j, 0 <= y j) /\ forall r, \sum_j demand j r * y j <= each r,
        forall j, \sum_(y <- x) y j = 1
      & (\sum_(y <- x) #|support y| <= #|Job| + #|Resource| * (s - 1))%N].
Proof.
move=> halfP s0 fit; pose p : {ffun Job -> R} := [ffun=> 1].
have p0 : nonneg p by move=> j; rewrite ffunE ler01.
have [x B] := @bisection_exists R Job Resource demand half halfP s p s0 p0.
have [sz y_ok xs cards] := bisection_sound p0 B; exists x; split=> //.
- move=> y /y_ok[y0 yr]; split=> // r; have := yr r; rewrite /used => ->.
  rewrite ler_pdivr_mulr ?ltr0n // mulrC; apply: le_trans (fit r).
  by apply: ler_sum => j _; rewrite ffunE mulr1.
- by move=> j; rewrite xs ffunE.
- apply: leq_trans cards _; rewrite leq_add2r; exact: max_card.
Qed.

(** ** A placement is a schedule

    Every job in one configuration [config j], its pieces on the servers as
    stage 2 describes them: that is a schedule in the sense of Theorem 4.1, so
    the ideal allocation bounds it. *)
Section Joint.
Variables (R : realFieldType) (Job Option Server Resource : finType).
Variables (job : Option -> Job) (need : Option -> Resource -> R) (rate : Option -> R).
Variables (fair : Job -> R) (capacity : Server -> Resource -> R) (config : Job -> Option).

Definition as_schedule (x : Server * Job -> R) (v : Server * Option) : R :=
  if v.2 == config (job v.2) then x (v.1, job v.2) else 0.

Theorem placement_is_schedule (x : Server * Job -> R) :
  (forall j, job (config j) = j) -> (forall j, fair j <= rate (config j)) ->
  placement (fun j => need (config j)) capacity x ->
  schedule job need rate fair capacity (as_schedule x) /\
  schedule_value rate (as_schedule x) = \sum_j rate (config j).
Proof.
move=> jc fc [x0 x1 xc].
have of_job (F : Option -> R) i j :
    \sum_(o | job o == j) F o * as_schedule x (i, o) = F (config j) * x (i, j).
  rewrite (bigD1 (config j)) ?jc //= /as_schedule /= jc eqxx big1 ?addr0 // => o.
  by case/andP=> /eqP-> /negPf->; rewrite mulr0.
have of_all (F : Option -> R) i :
    \sum_o F o * as_schedule x (i, o) = \sum_j F (config j) * x (i, j).
  by rewrite (partition_big job xpredT) //=; apply: eq_bigr => j _; exact: of_job.
have col (c : R) j : \sum_i c * x (i, j) = c by rewrite -big_distrr /= x1 mulr1.
split; first split.
- by move=> i o; rewrite /as_schedule; case: ifP.
- move=> j; rewrite -[RHS](x1 j); apply: eq_bigr => i _.
  rewrite -[RHS]mul1r -(of_job (fun=> 1)); apply: eq_bigr => o _; by rewrite mul1r.
- by move=> i r; rewrite (of_all (fun o => need o r)).
- move=> j; under eq_bigr do rewrite of_job; by rewrite col.
rewrite /schedule_value; under eq_bigr do rewrite of_all.
by rewrite exchange_big /=; apply: eq_bigr => j _; rewrite col.
Qed.

End Joint.
