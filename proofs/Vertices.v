(** Vertices of polyhedra and the exchange argument, over any ordered field.

    Both rest on one fact of linear algebra: more unknowns than equations have
    a non-zero solution. *)

From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A vertex is a point of [P] that is not the middle of two other points. *)
Definition vertex (R : realFieldType) (V : Type) (P : (V -> R) -> Prop) (x : V -> R) : Prop :=
  P x /\ forall y z, P y -> P z -> (forall v, x v = (y v + z v) / 2%:R) -> y =1 x.

Definition support (R : realFieldType) (V : finType) (x : V -> R) : {set V} :=
  [set v | 0 < x v].

Section Linear.
Variable R : realFieldType.

Lemma kernel_row m e (A : 'M[R]_(m, e)) :
  (e < m)%N -> exists2 u : 'rV[R]_m, u != 0 & u *m A = 0.
Proof.
move=> lt_em; exists (nz_row (kermx A)).
  rewrite nz_row_eq0 -mxrank_eq0 mxrank_ker subn_eq0 -ltnNge.
  exact: leq_ltn_trans (rank_leq_col A) lt_em.
by apply/sub_kermxP; exact: nz_row_sub.
Qed.

(** More variables in [S] than functionals: some direction along [S] is seen by
    none of them. *)
Lemma dependency (V F : finType) (g : F -> V -> R) (S : {set V}) :
  (#|F| < #|S|)%N ->
  exists d : V -> R, [/\ exists2 v, v \in S & d v != 0,
                         forall v, v \notin S -> d v = 0
                       & forall f, \sum_v g f v * d v = 0].
Proof.
move=> lt_FS.
pose A : 'M[R]_(#|S|, #|F|) := \matrix_(k, f) g (enum_val f) (enum_val k).
have [u /rV0Pn[k0 uk0] uA] := kernel_row A lt_FS.
pose d v := \sum_(k < #|S| | enum_val k == v) u 0 k.
have dE k : d (enum_val k) = u 0 k.
  by rewrite /d (big_pred1 k) // => l; rewrite (inj_eq enum_val_inj).
exists d; split.
- by exists (enum_val k0); [exact: enum_valP | rewrite dE].
- move=> v vS; rewrite /d big1 // => k /eqP kv.
  by move: vS; rewrite -kv enum_valP.
move=> f; have /matrixP/(_ 0 (enum_rank f)) := uA; rewrite !mxE => uA0.
transitivity (\sum_k u 0 k * A k (enum_rank f)); last by rewrite uA0.
rewrite [RHS](partition_big (fun k => enum_val k) xpredT) //=.
apply: eq_bigr => v _; rewrite /d big_distrr /=; apply: eq_bigr => k /eqP <-.
by rewrite mxE enum_rankK mulrC.
Qed.

(** A step that is small enough for finitely many positive bounds. *)
Lemma small_step (T : finType) (P : pred T) (b q : T -> R) :
  (forall t, P t -> 0 < b t) ->
  exists2 e : R, 0 < e & forall t, P t -> `|e * q t| <= b t.
Proof.
move=> bP.
suff [e e0 H] : exists2 e : R, 0 < e & forall t, t \in enum T -> P t -> `|e * q t| <= b t.
  by exists e => // t; apply: H; rewrite mem_enum.
elim: (enum T) => [|t s [e e0 IH]]; first by exists 1 => [|t]; rewrite ?ltr01 ?in_nil.
have [Pt|nPt] := boolP (P t); last first.
  by exists e => // u; rewrite inE => /orP[/eqP->|/IH//]; rewrite (negPf nPt).
have q1 : 0 < 1 + `|q t| by rewrite ltr_paddr.
have bq : 0 < b t / (1 + `|q t|) by rewrite divr_gt0 // bP.
exists (Num.min e (b t / (1 + `|q t|))); first by rewrite lt_minr e0.
have m0 : 0 <= Num.min e (b t / (1 + `|q t|)) by rewrite le_minr !ltW.
move=> u; rewrite inE normrM ger0_norm // => /orP[/eqP-> _|us Pu].
  apply: (@le_trans _ _ (b t / (1 + `|q t|) * `|q t|)).
    by rewrite ler_wpmul2r // le_minl lexx orbT.
  by rewrite mulrAC ler_pdivr_mulr // ler_wpmul2l ?ler_addr ?ler01 // ltW // bP.
apply: (@le_trans _ _ (e * `|q u|)).
  by rewrite ler_wpmul2r // le_minl lexx.
by have := IH u us Pu; rewrite normrM gtr0_norm.
Qed.

Lemma vertex_no_direction (V : Type) (P : (V -> R) -> Prop) x (d : V -> R) e :
  vertex P x -> 0 < e ->
  P (fun v => x v + e * d v) -> P (fun v => x v + - e * d v) -> forall v, d v = 0.
Proof.
move=> [_ vx] e0 Py Pz v.
have mid w : x w = (x w + e * d w + (x w + - e * d w)) / 2%:R.
  by rewrite mulNr addrACA subrr addr0 -mulr2n -[x w *+ 2]mulr_natr mulfK // pnatr_eq0.
have /eqP := vx _ _ Py Pz mid v.
by rewrite -subr_eq0 addrAC subrr add0r mulf_eq0 gt_eqF //= => /eqP.
Qed.

(** ** The exchange argument *)

Section Exchange.
Variables (V F : finType) (g : F -> V -> R) (w hi : V -> R).

Definition in_box (y : V -> R) : Prop := forall v, 0 <= y v <= hi v.
Definition inner (y : V -> R) : {set V} := [set v | 0 < y v < hi v].

(** While more variables lie strictly between their bounds than there are
    equations, one of them can be moved to a bound: nothing that [g] measures
    changes, and the objective [w] does not fall. *)
Lemma exchange_step y : in_box y -> (#|F| < #|inner y|)%N ->
  exists y', [/\ in_box y', forall f, \sum_v g f v * y' v = \sum_v g f v * y v,
                 \sum_v w v * y v <= \sum_v w v * y' v,
                 inner y' \proper inner y & forall v, v \notin inner y -> y' v = y v].
Proof.
move=> yB /(dependency g)[d0 [[v0 v0S dv0] dS dg]].
pose sg : R := if 0 <= \sum_v w v * d0 v then 1 else -1.
have sg_neq0 : sg != 0 by rewrite /sg; case: ifP; rewrite ?oppr_eq0 oner_eq0.
pose d v := sg * d0 v.
have d_out v : v \notin inner y -> d v = 0 by move=> /dS; rewrite /d => ->; rewrite mulr0.
have d_g f : \sum_v g f v * d v = 0.
  transitivity (sg * \sum_v g f v * d0 v); last by rewrite dg mulr0.
  by rewrite big_distrr /=; apply: eq_bigr => v _; rewrite mulrCA.
have d_w : 0 <= \sum_v w v * d v.
  have -> : \sum_v w v * d v = sg * \sum_v w v * d0 v.
    by rewrite big_distrr /=; apply: eq_bigr => v _; rewrite mulrCA.
  rewrite /sg; case: ifPn => [le0|]; first by rewrite mul1r.
  by rewrite -ltNge mulN1r oppr_ge0 => /ltW.
pose room v := if 0 < d v then (hi v - y v) / d v else y v / - d v.
pose Q v := d v != 0.
have Qv0 : Q v0 by rewrite /Q /d mulf_neq0.
have Qin v : Q v -> 0 < y v < hi v.
  rewrite /Q; have [|/d_out->] := boolP (v \in inner y); last by rewrite eqxx.
  by rewrite inE.
have neg v : Q v -> ~~ (0 < d v) -> 0 < - d v.
  by rewrite /Q -leNgt oppr_gt0 lt_neqAle => -> ->.
have room_ge0 v : Q v -> 0 < room v.
  move=> Qv; have /andP[y0 yh] := Qin v Qv; rewrite /room; case: ifPn => dv.
    by rewrite divr_gt0 // subr_gt0.
  by rewrite divr_gt0 // neg.
case: (@arg_minP _ _ _ v0 Q room Qv0) => m Qm room_min.
pose t := room m; have t0 : 0 < t by exact: room_ge0.
pose y' v := y v + t * d v.
have y'B : in_box y'.
  move=> v; rewrite /y'; have [Qv|] := boolP (Q v); last first.
    by rewrite negbK => /eqP->; rewrite mulr0 addr0; exact: yB.
  have /andP[y0 yh] := Qin v Qv; have := room_min v Qv; rewrite -/t /room.
  case: ifPn => dv t_le.
    move: t_le; rewrite ler_pdivl_mulr // ler_subr_addl => ->; rewrite andbT.
    by apply: addr_ge0; apply: ltW => //; exact: mulr_gt0.
  have dv' := neg v Qv dv.
  move: t_le; rewrite ler_pdivl_mulr // mulrN ler_oppl -subr_ge0 opprK addrC => -> /=.
  by rewrite (le_trans _ (ltW yh)) // ger_addl -oppr_ge0 -mulrN ltW // mulr_gt0.
have m_in : m \in inner y by rewrite inE Qin.
have m_out : m \notin inner y'.
  rewrite inE /y' /t /room; case: ifPn => dm.
    by rewrite mulfVK // addrC subrK ltxx andbF.
  by rewrite invrN mulrN mulNr mulfVK // subrr ltxx.
exists y'; split=> //.
- move=> f; transitivity (\sum_v g f v * y v + t * \sum_v g f v * d v); last first.
    by rewrite d_g mulr0 addr0.
  rewrite big_distrr /= -big_split /=.
  by apply: eq_bigr => v _; rewrite /y' mulrDr [g f v * (t * _)]mulrCA.
- have -> : \sum_v w v * y' v = \sum_v w v * y v + t * \sum_v w v * d v.
    rewrite big_distrr /= -big_split /=; apply: eq_bigr => v _.
    by rewrite /y' mulrDr [w v * (t * _)]mulrCA.
  by rewrite ler_addl mulr_ge0 // ltW.
- apply/properP; split; last by exists m.
  apply/subsetP => v; rewrite !inE /y'; have [Qv _|] := boolP (Q v); first exact: Qin.
  by rewrite negbK => /eqP->; rewrite mulr0 addr0.
- by move=> v /d_out dv; rewrite /y' dv mulr0 addr0.
Qed.

(** Repeated: at most as many inner variables as equations are left. *)
Lemma exchange y : in_box y ->
  exists y', [/\ in_box y', forall f, \sum_v g f v * y' v = \sum_v g f v * y v,
                 \sum_v w v * y v <= \sum_v w v * y' v,
                 (#|inner y'| <= #|F|)%N & forall v, v \notin inner y -> y' v = y v].
Proof.
have [n] := ubnP #|inner y|; elim: n y => // n IH y; rewrite ltnS => yn yB.
have [le_yF|lt_Fy] := leqP #|inner y| #|F|; first by exists y; split.
have [y1 [y1B y1g y1w y1p y1o]] := exchange_step yB lt_Fy.
have [|y2 [y2B y2g y2w y2c y2o]] := IH y1 _ y1B.
  exact: leq_trans (proper_card y1p) yn.
exists y2; split=> //.
- by move=> f; rewrite y2g y1g.
- exact: le_trans y1w y2w.
- move=> v vy; rewrite y2o ?y1o //; apply: contra vy.
  exact: (subsetP (proper_sub y1p)).
Qed.

End Exchange.
End Linear.
