(** The hypotheses about Synergy's programmes can hold, and the conclusions fail
    without them.  All over the rationals. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Proofs Require Import Vertices Ideal Placement.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition half : rat := 1 / 2%:R.

Lemma half_half : half + half = 1.
Proof. by rewrite /half -mulrDl divff. Qed.

Lemma half_gt0 : 0 < half. Proof. by []. Qed.
Lemma half_lt1 : half < 1. Proof. by []. Qed.

(** One job on two servers that hold half of it each: the only placement is a
    vertex, and it splits q (s - 1) = 1 job. *)
Definition one_demand (j : 'I_1) (r : 'I_1) : rat := 1.
Definition half_capacity (i : bool) (r : 'I_1) : rat := half.
Definition halves (J : finType) (v : bool * J) : rat := half.

Lemma halves_card (J : finType) : #|split_jobs (@halves J)| = #|J|.
Proof.
rewrite -cardsT; apply: eq_card => j; rewrite !inE.
have -> : pieces_of (@halves J) j = [set: bool] by apply/setP => i; rewrite !inE.
by rewrite cardsT card_bool.
Qed.

Example split_bound_attained :
  vertex (placement one_demand half_capacity) (@halves _) /\
  #|split_jobs (@halves [finType of 'I_1])| = (#|'I_1| * (#|{: bool}| - 1))%N.
Proof.
split; last by rewrite halves_card card_bool !card_ord.
have only y : placement one_demand half_capacity y -> forall v, y v = half.
  move=> [y0 y1 yc]; have le i j : y (i, j) <= half.
    by have := yc i ord0; rewrite big_ord1 mul1r (ord1 j).
  have sum j : y (true, j) + y (false, j) = 1 by have := y1 j; rewrite big_bool.
  have ge i j : half <= y (i, j).
    have := sum j; rewrite -half_half; case: i => E.
      by rewrite -(ler_add2r (y (false, j))) E ler_add2l le.
    by rewrite -(ler_add2l (y (true, j))) E ler_add2r le.
  by case=> i j; apply/eqP; rewrite eq_le le ge.
split; last by move=> y z Py _ _ v; rewrite (only y Py).
split=> [i j|j|i r]; first exact: ltW half_gt0.
  by rewrite big_bool /= /halves half_half.
by rewrite big_ord1 mul1r; exact: lexx.
Qed.

(** A placement that is no vertex (an interior point) splits every job. *)
Definition two_demand (j : bool) (r : 'I_1) : rat := 1.
Definition full_capacity (i : bool) (r : 'I_1) : rat := 1.

Example vertex_needed :
  placement two_demand full_capacity (@halves _) /\
  (#|'I_1| * (#|{: bool}| - 1) < #|split_jobs (@halves bool_finType)|)%N.
Proof.
split; last by rewrite halves_card card_bool card_ord.
split=> [i j|j|i r]; first exact: ltW half_gt0.
  by rewrite big_bool /= /halves half_half.
by rewrite big_bool /= /halves !mul1r half_half; exact: lexx.
Qed.

(** One job, two options, no resource at all: a point that is no vertex has a
    fractional job although K = 0. *)
Definition its_job (o : bool) : 'I_1 := ord0.

Example vertex_needed_for_K :
  let need (o : bool) (r : 'I_0) : rat := 0 in
  fixed_lp its_job need (fun=> 0) (fun=> half) /\
  (#|'I_0| < #|fractional its_job (fun=> half)|)%N.
Proof.
split; first (split; first split).
- by move=> o; exact: ltW half_gt0.
- by move=> j; rewrite (ord1 j) big_mkcond big_bool /= half_half.
- by case.
rewrite card_ord; apply/card_gt0P; exists ord0; rewrite inE; apply/existsP; exists true.
by rewrite eqxx half_gt0 half_lt1.
Qed.

(** Two resources, one job that needs two units of either: half of each option
    fits, no whole option does.  Without floors nothing can be rounded. *)
Definition either (o r : bool) : rat := if o == r then 2%:R else 0.

Example floors_needed :
  fixed_lp its_job either (fun=> 1) (fun=> half) /\
  forall z, fixed_lp its_job either (fun=> 1) z -> ~ integral z.
Proof.
split; first (split; first split).
- by move=> o; exact: ltW half_gt0.
- by move=> j; rewrite (ord1 j) big_mkcond big_bool /= half_half.
- by move=> [] ; rewrite big_bool.
move=> z [[z0 z1] zc] zI.
have small o : z o = 0.
  case: (zI o) => // zo; have := zc o; rewrite big_bool /either.
  by case: o zo => -> /=; rewrite !mul0r ?addr0 ?add0r mulr1.
by have := z1 ord0; rewrite big1.
Qed.

(** A negative price proves nothing: one job that needs nothing. *)
Example prices_must_not_be_negative :
  let need (o : 'I_1) (r : 'I_1) : rat := 0 in
  let rate (o : 'I_1) : rat := 1 in
  let price (r : 'I_1) : rat := -1 in
  [/\ one_each (fun o : 'I_1 => o) (fun=> 1 : rat), within need (fun=> 1) (fun=> 1),
      forall o, priced need rate price o <= rate o
    & price_bound price (fun=> 1) rate < value rate (fun=> 1)].
Proof.
split.
- by split=> // j; rewrite (ord1 j) big_mkcond big_ord1.
- by move=> r; rewrite big_ord1 mul0r.
- by move=> o; rewrite /priced big_ord1 mulr0 subr0.
- by rewrite /price_bound /value !big_ord1 !mulr1 addNr.
Qed.

(** A fair schedule that splits a job over two servers. *)
Example fair_schedule_exists :
  schedule (fun _ : 'I_1 => ord0 : 'I_1) (fun _ (_ : 'I_1) => 1) (fun=> 1) (fun=> 1)
    half_capacity (fun _ : bool * 'I_1 => half).
Proof.
split=> [i o|j|i r|j]; first exact: ltW half_gt0.
- by rewrite big_bool !(big_mkcond (fun=> _)) !big_ord1 (ord1 j) /= half_half.
- by rewrite big_ord1 mul1r.
- by rewrite big_bool !(big_mkcond (fun=> _)) !big_ord1 (ord1 j) /= !mul1r half_half.
Qed.
