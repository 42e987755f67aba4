(** Stage 1 of Synergy-OPT: the ideal allocation bounds every schedule, prices
    certify the bound, a vertex leaves few jobs fractional, and rounding them
    down to their floors costs little. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Proofs Require Import Vertices.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Ideal.
Variables (R : realFieldType) (Job Option Server Resource : finType).

(** An option is a job's choice of a configuration: [job o] says whose, [need o]
    what it takes of each resource, [rate o] the throughput that it gives. *)
Variables (job : Option -> Job) (need : Option -> Resource -> R) (rate : Option -> R).
Variables (fair : Job -> R) (capacity : Server -> Resource -> R).

Definition total (r : Resource) : R := \sum_i capacity i r.
Definition value (y : Option -> R) : R := \sum_o rate o * y o.

(** LP (1-5): value (1), resources (2, 3), one unit of options a job (4), the
    fair throughput as a row (5). *)
Definition one_each (y : Option -> R) : Prop :=
  (forall o, 0 <= y o) /\ forall j, \sum_(o | job o == j) y o = 1.
Definition within (y : Option -> R) (cap : Resource -> R) : Prop :=
  forall r, \sum_o need o r * y o <= cap r.
Definition fair_row (y : Option -> R) : Prop :=
  forall j, fair j <= \sum_(o | job o == j) rate o * y o.
Definition ideal_lp (y : Option -> R) : Prop :=
  [/\ one_each y, within y total & fair_row y].

(** A schedule, split or not: [x (i, o)] is the part of the job of [o] that runs
    on server [i] in configuration [o].  No job is created or lost, no server
    is overfull, every job makes at least its fair progress. *)
Definition schedule (x : Server * Option -> R) : Prop :=
  [/\ forall i o, 0 <= x (i, o),
      forall j, \sum_i \sum_(o | job o == j) x (i, o) = 1,
      forall i r, \sum_o need o r * x (i, o) <= capacity i r
    & forall j, fair j <= \sum_i \sum_(o | job o == j) rate o * x (i, o)].
Definition schedule_value (x : Server * Option -> R) : R :=
  \sum_i \sum_o rate o * x (i, o).
Definition merged (x : Server * Option -> R) (o : Option) : R := \sum_i x (i, o).

Theorem schedule_bounded x : schedule x ->
  ideal_lp (merged x) /\ value (merged x) = schedule_value x.
Proof.
have col (c : Option -> R) (P : pred Option) :
  \sum_(o | P o) c o * merged x o = \sum_i \sum_(o | P o) c o * x (i, o).
  rewrite exchange_big /=; apply: eq_bigr => o _; exact: big_distrr.
move=> [x0 x1 xc xf]; split; last exact: col.
split; first split.
- by move=> o; apply: sumr_ge0 => i _.
- by move=> j; rewrite -(x1 j) exchange_big.
- by move=> r; rewrite (col (fun o => need o r)); apply: ler_sum => i _.
- by move=> j; rewrite col.
Qed.

(** A whole number of options: the unsplit placements, and the ILP. *)
Definition integral (y : Option -> R) : Prop := forall o, y o = 0 \/ y o = 1.

(** An unsplit schedule gives a point of the ILP. *)
Theorem unsplit_integral x : schedule x ->
  (forall v, x v = 0 \/ x v = 1) -> integral (merged x).
Proof.
move=> [x0 x1 _ _] x01 o; rewrite /merged.
case: (pickP (fun i => x (i, o) == 1)) => [i /eqP xi1|none]; last first.
  by left; rewrite big1 // => i _; case: (x01 (i, o)) => // xi; have := none i; rewrite xi eqxx.
right; apply/eqP; rewrite eq_le; apply/andP; split.
  rewrite -(x1 (job o)); apply: ler_sum => k _; rewrite (bigD1 o) //=.
  by rewrite ler_addl sumr_ge0.
by rewrite (bigD1 i) //= xi1 ler_addl sumr_ge0.
Qed.

(** For whole options row (5) only says which options may be chosen: those with
    a fair rate ("fixing"). *)
Theorem fixing y : one_each y -> integral y ->
  (fair_row y <-> forall o, y o = 1 -> fair (job o) <= rate o).
Proof.
move=> [y0 y1] yI.
have others o : y o = 1 -> forall o', job o' == job o -> o' != o -> y o' = 0.
  move=> yo o' jo' ne; have := y1 (job o); rewrite (bigD1 o) //= yo.
  move/eqP; rewrite -subr_eq0 addrAC subrr add0r => /eqP s0.
  by apply: (psumr_eq0P _ s0) => //; rewrite jo'.
have row o : y o = 1 -> \sum_(o' | job o' == job o) rate o' * y o' = rate o.
  move=> yo; rewrite (bigD1 o) //= yo mulr1 big1 ?addr0 // => o' /andP[jo' ne].
  by rewrite (others o) // mulr0.
split=> [yf o yo|yf j]; first by rewrite -(row o yo) yf.
case: (pickP (fun o => (job o == j) && (y o == 1))) => [o /andP[/eqP <- /eqP yo]|none].
  by rewrite row // yf.
have /eqP := y1 j; rewrite big1 ?[0 == 1]eq_sym ?oner_eq0 // => o jo.
by case: (yI o) => // yo; have := none o; rewrite jo yo eqxx.
Qed.

(** ** Prices certify a bound *)

(** For any prices >= 0 and any [profit j] that no option of job [j] beats,
    prices of all resources plus profits bound every point of the LP. *)
Definition priced (price : Resource -> R) (o : Option) : R :=
  rate o - \sum_r price r * need o r.
Definition price_bound (price : Resource -> R) (cap : Resource -> R) (profit : Job -> R) : R :=
  \sum_r price r * cap r + \sum_j profit j.

Lemma weak_duality price profit cap y :
  (forall r, 0 <= price r) -> one_each y -> within y cap ->
  value y + \sum_o (profit (job o) - priced price o) * y o <= price_bound price cap profit.
Proof.
move=> p0 [y0 y1] yc.
have -> : value y + \sum_o (profit (job o) - priced price o) * y o
  = \sum_o (\sum_r price r * need o r) * y o + \sum_o profit (job o) * y o.
  rewrite -!big_split /=; apply: eq_bigr => o _; rewrite -!mulrDl /priced opprB.
  by rewrite addrC -addrA subrK addrC.
apply: ler_add.
  have -> : \sum_o (\sum_r price r * need o r) * y o = \sum_r price r * \sum_o need o r * y o.
    under eq_bigr do rewrite big_distrl /=.
    rewrite exchange_big /=; apply: eq_bigr => r _; rewrite big_distrr /=.
    by apply: eq_bigr => o _; rewrite mulrA.
  by apply: ler_sum => r _; rewrite ler_wpmul2l.
rewrite (partition_big job xpredT) //=; apply: ler_sum => j _.
rewrite le_eqVlt; apply/orP; left; apply/eqP.
under eq_bigr => o /eqP-> do over.
by rewrite -big_distrr /= y1 mulr1.
Qed.

Theorem prices_bound price profit cap y :
  (forall r, 0 <= price r) -> (forall o, priced price o <= profit (job o)) ->
  one_each y -> within y cap -> value y <= price_bound price cap profit.
Proof.
move=> p0 pP y1 yc; apply: le_trans (weak_duality profit p0 y1 yc).
rewrite ler_addl sumr_ge0 // => o _; rewrite mulr_ge0 ?subr_ge0 //.
by case: y1.
Qed.

(** The best profit is the largest reduced rate: L(lambda) itself. *)
Theorem lagrangian_bound price y (best : Job -> Option) :
  (forall r, 0 <= price r) ->
  (forall o, priced price o <= priced price (best (job o))) ->
  one_each y -> within y total ->
  value y <= \sum_r price r * total r + \sum_j priced price (best j).
Proof. by move=> p0 pP; exact: (@prices_bound price (fun j => priced price (best j))). Qed.

(** Reduced-cost fixing: an option that loses more than bound minus incumbent is
    in no integral solution that is at least as good as the incumbent. *)
Theorem reduced_cost_fixing price profit cap y o :
  (forall r, 0 <= price r) -> (forall o', priced price o' <= profit (job o')) ->
  one_each y -> integral y -> within y cap ->
  price_bound price cap profit - value y < profit (job o) - priced price o -> y o = 0.
Proof.
move=> p0 pP y1 yI yc; case: (yI o) => // yo; have [y0 _] := y1.
rewrite ltNge => /negP; case; rewrite ler_subr_addl.
apply: le_trans (weak_duality profit p0 y1 yc); rewrite ler_add2l (bigD1 o) //= yo mulr1.
by rewrite ler_addl sumr_ge0 // => o' _; rewrite mulr_ge0 ?subr_ge0.
Qed.

(** ** Few fractional jobs, and what rounding loses *)

Definition fractional (y : Option -> R) : {set Job} :=
  [set j | [exists o, (job o == j) && (0 < y o < 1)]].

(** The LP after fixing: all options are fair, row (5) is gone. *)
Definition fixed_lp (cap : Resource -> R) (y : Option -> R) : Prop :=
  one_each y /\ within y cap.

Lemma one_each_le1 y o : one_each y -> y o <= 1.
Proof.
move=> [y0 y1]; rewrite -(y1 (job o)) (bigD1 o) //= ler_addl.
by rewrite sumr_ge0.
Qed.

Definition options (j : Job) (A : {set Option}) : {set Option} := [set o in A | job o == j].

Lemma card_by_job (A : {set Option}) : #|A| = (\sum_j #|options j A|)%N.
Proof.
rewrite -sum1_card (partition_big job xpredT) //=; apply: eq_bigr => j _.
by rewrite -sum1_card; apply: eq_bigl => o; rewrite inE.
Qed.

(** A job that is not whole has two options strictly between 0 and 1. *)
Lemma fractional_two y j : one_each y -> j \in fractional y ->
  (1 < #|options j (inner (fun=> 1%R) y)|)%N.
Proof.
move=> yO; have [y0 y1] := yO; rewrite inE => /existsP[o /andP[/eqP jo /andP[o0 o1]]].
have oin : o \in options j (inner (fun=> 1%R) y) by rewrite !inE o0 o1 jo eqxx.
rewrite (cardD1 o) oin add1n ltnS; apply/card_gt0P.
case: (pickP (fun o' => [&& job o' == j, o' != o & 0 < y o'])) => [o' /and3P[jo' ne o'0]|none].
  exists o'; rewrite !inE ne o'0 jo' andbT /=.
  have := y1 j; rewrite (bigD1 o) ?jo //= (bigD1 o') ?jo' //=.
  move/eqP; rewrite eq_sym addrA -subr_eq => /eqP E; rewrite -subr_gt0.
  rewrite ltNge; apply/negP => le.
  have : y o + y o' <= 1.
    have := y1 j; rewrite (bigD1 o) ?jo //= (bigD1 o') ?jo' //= addrA => <-.
    by rewrite ler_addl sumr_ge0.
  rewrite leNgt; case/negP; apply: (@lt_le_trans _ _ (y o + 1)).
    by rewrite ltr_addr.
  by rewrite ler_add2l -subr_le0.
have := y1 j; rewrite (bigD1 o) ?jo //= big1 ?addr0 => [E|o' /andP[jo' ne]].
  by rewrite E ltxx in o1.
by apply/eqP; rewrite eq_le y0 andbT leNgt; have := none o'; rewrite jo' ne /= => ->.
Qed.

Lemma has_option y j : one_each y -> (0 < #|options j (support y)|)%N.
Proof.
move=> [y0 y1]; rewrite card_gt0; apply/set0Pn.
case: (pickP (fun o => (job o == j) && (0 < y o))) => [o /andP[jo o0]|none].
  by exists o; rewrite !inE o0 jo.
have /eqP := y1 j; rewrite big1 ?[0 == 1]eq_sym ?oner_eq0 // => o jo.
by apply/eqP; rewrite eq_le y0 andbT leNgt; have := none o; rewrite jo /= => ->.
Qed.

Lemma fractional_support y : one_each y -> (#|Job| + #|fractional y| <= #|support y|)%N.
Proof.
move=> yO; rewrite [#|support y|]card_by_job.
have -> : #|fractional y| = (\sum_j (j \in fractional y))%N by rewrite -sum1_card big_mkcond.
rewrite -sum1_card -big_split /=; apply: leq_sum => j _.
have [jF|_] := boolP (j \in fractional y); last by rewrite addn0 has_option.
apply: leq_trans (fractional_two yO jF) _; apply: subset_leq_card; apply/subsetP => o.
by rewrite !inE => /andP[/andP[-> _] ->].
Qed.

(** At most K fractional jobs in a vertex, K the number of resources. *)
Theorem vertex_fractional cap y : vertex (fixed_lp cap) y -> (#|fractional y| <= #|Resource|)%N.
Proof.
move=> vy; have [[yO yc] _] := vy; have [y0 y1] := yO.
rewrite -(leq_add2l #|Job|); apply: leq_trans (fractional_support yO) _.
rewrite leqNgt -card_sum; apply/negP.
pose g (f : Job + Resource) (o : Option) : R := match f with
  | inl j => (job o == j)%:R | inr r => need o r end.
move=> /(dependency g)[d [[o oS dne] dS dg]].
have dj j : \sum_(o' | job o' == j) d o' = 0.
  rewrite -[RHS](dg (inl j)) big_mkcond /=; apply: eq_bigr => o' _.
  by case: eqP => _; rewrite ?mul1r ?mul0r.
have [|e e_gt0 He] := @small_step R _ (mem (support y)) y d; first by move=> v; rewrite /= inE.
have ed v : `|e * d v| <= y v.
  by have [/He//|/dS->] := boolP (v \in support y); rewrite mulr0 normr0.
have move_ok c : (forall v, `|c * d v| <= y v) -> fixed_lp cap (fun v => y v + c * d v).
  move=> cd; split; first split.
  - move=> v; rewrite -ler_subl_addl sub0r.
    by have := cd v; rewrite ler_norml => /andP[].
  - by move=> j; rewrite big_split /= y1 -big_distrr /= dj mulr0 addr0.
  - move=> r; have -> : \sum_o' need o' r * (y o' + c * d o') = \sum_o' need o' r * y o'.
      have := dg (inr r); rewrite /= => dr.
      transitivity (\sum_o' need o' r * y o' + c * \sum_o' need o' r * d o').
        rewrite big_distrr /= -big_split /=; apply: eq_bigr => o' _.
        by rewrite mulrDr [need o' r * (c * _)]mulrCA.
      by rewrite dr mulr0 addr0.
    exact: yc.
have Pn : fixed_lp cap (fun v => y v + - e * d v).
  by apply: move_ok => v; rewrite mulNr normrN.
by move: dne; rewrite (vertex_no_direction vy e_gt0 (move_ok e ed) Pn) eqxx.
Qed.

(** From any point of the LP, a point that is no worse with at most K
    fractional jobs, without asking that it be a vertex. *)
Lemma few_fractional cap y : fixed_lp cap y ->
  exists y', [/\ fixed_lp cap y', value y <= value y' & (#|fractional y'| <= #|Resource|)%N].
Proof.
have [n] := ubnP #|inner (fun=> 1%R) y|; elim: n y => // n IH y; rewrite ltnS => yn [yO yc].
have [y0 y1] := yO.
have [few|many] := leqP #|fractional y| #|Resource|; first by exists y; split.
pose J := {j | j \in fractional y}.
pose g (f : J + Resource) (o : Option) : R := match f with
  | inl j => (job o == val j)%:R | inr r => need o r end.
have yB : in_box (fun=> 1) y by move=> o; rewrite y0 one_each_le1.
have lt : (#|{: J + Resource}| < #|inner (fun=> 1%R) y|)%N.
  rewrite card_sum card_sig card_by_job.
  apply: (@leq_trans (#|fractional y| + #|fractional y|)%N).
    by rewrite -addnS leq_add2l.
  have -> : #|fractional y| = (\sum_j (j \in fractional y))%N by rewrite -sum1_card big_mkcond.
  rewrite -big_split /=; apply: leq_sum => j _.
  by have [jF|//] := boolP (j \in fractional y); rewrite (fractional_two yO jF).
have [y' [y'B y'g y'w y'p y'o]] := exchange_step g rate yB lt.
have y'F : fixed_lp cap y'.
  split; first split.
  - by move=> o; case/andP: (y'B o).
  - move=> j; rewrite -(y1 j); have [jF|jN] := boolP (j \in fractional y).
      have := y'g (inl (Sub j jF)); rewrite /= => E.
      rewrite [LHS]big_mkcond [RHS]big_mkcond /=.
      have if_mul (z : Option -> R) o : (if job o == j then z o else 0) = (job o == j)%:R * z o.
        by case: eqP => _; rewrite ?mul1r ?mul0r.
      by rewrite !(eq_bigr _ (fun o _ => if_mul _ o)).
    apply: eq_bigr => o jo; apply: y'o; apply: contra jN; rewrite !inE => oI.
    by apply/existsP; exists o; rewrite jo.
  - by move=> r; have := y'g (inr r); rewrite /= => ->; exact: yc.
have [|y'' [y''F y''w y''c]] := IH y' _ y'F; first exact: leq_trans (proper_card y'p) yn.
by exists y''; split=> //; apply: le_trans y'w y''w.
Qed.

(** Rounding: if every job has a floor, an option that needs no more of anything
    than its others, then the ILP loses at most K times the largest gain over a
    floor. *)
Theorem rounding_loss cap y (floor : Job -> Option) (gain : R) :
  (forall j, job (floor j) = j) ->
  (forall o r, need (floor (job o)) r <= need o r) ->
  0 <= gain -> (forall o, rate o - rate (floor (job o)) <= gain) ->
  fixed_lp cap y ->
  exists z, [/\ fixed_lp cap z, integral z & value y <= value z + #|Resource|%:R * gain].
Proof.
move=> fj fneed gain0 fgain /few_fractional[x [[xO xc] xw xK]]; have [x0 x1] := xO.
pose z o := if job o \in fractional x then (o == floor (job o))%:R else x o.
have z_frac (c : Option -> R) j : j \in fractional x ->
    \sum_(o | job o == j) c o * z o = c (floor j).
  move=> jF; rewrite (bigD1 (floor j)) ?fj //= big1 ?addr0 /z ?fj ?jF ?eqxx ?mulr1 //.
  by move=> o /andP[/eqP-> /negPf ne]; rewrite jF ne mulr0.
have z_whole (c : Option -> R) j : j \notin fractional x ->
    \sum_(o | job o == j) c o * z o = \sum_(o | job o == j) c o * x o.
  by move=> jN; apply: eq_bigr => o /eqP jo; rewrite /z jo (negPf jN).
have by_job (c u : Option -> R) : \sum_o c o * u o = \sum_j \sum_(o | job o == j) c o * u o.
  by rewrite (partition_big job xpredT).
exists z; split.
- split; first split.
  + by move=> o; rewrite /z; case: ifP => // _; rewrite ler0n.
  + move=> j; have [jF|jN] := boolP (j \in fractional x).
      by rewrite -[RHS](z_frac (fun=> 1) j jF); apply: eq_bigr => o _; rewrite mul1r.
    rewrite -(x1 j) -[RHS](eq_bigr _ (fun o _ => mul1r (x o))) -(z_whole (fun=> 1) j jN).
    by apply: eq_bigr => o _; rewrite mul1r.
  + move=> r; apply: le_trans (xc r); rewrite !by_job; apply: ler_sum => j _.
    have [jF|jN] := boolP (j \in fractional x); last by rewrite z_whole.
    rewrite z_frac // -[X in X <= _]mulr1 -(x1 j) big_distrr /=.
    by apply: ler_sum => o /eqP jo; rewrite ler_wpmul2r // -jo fneed.
- move=> o; rewrite /z; have [_|oN] := boolP (job o \in fractional x).
    by case: eqP; [right | left].
  have := one_each_le1 o xO; have := x0 o; rewrite le_eqVlt => /orP[/eqP<-|o0]; first by left.
  rewrite le_eqVlt => /orP[/eqP->|o1]; first by right.
  by case/negP: oN; rewrite inE; apply/existsP; exists o; rewrite eqxx o0 o1.
apply: le_trans xw _; rewrite -ler_subl_addl /value !by_job -sumrB.
apply: (@le_trans _ _ (\sum_j (j \in fractional x)%:R * gain)).
  apply: ler_sum => j _; have [jF|jN] := boolP (j \in fractional x); last first.
    by rewrite z_whole // subrr mul0r.
  rewrite z_frac // mul1r ler_subl_addr.
  apply: (@le_trans _ _ (\sum_(o | job o == j) (gain + rate (floor j)) * x o)).
    apply: ler_sum => o /eqP jo; rewrite ler_wpmul2r // -ler_subl_addr -jo; exact: fgain.
  by rewrite -big_distrr /= x1 mulr1.
rewrite -big_distrl /= ler_wpmul2r // -natr_sum ler_nat.
by apply: leq_trans xK; rewrite -sum1_card [X in (_ <= X)%N]big_mkcond.
Qed.

End Ideal.
