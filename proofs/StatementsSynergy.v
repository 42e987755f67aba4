(** The statements about Synergy's two linear programmes, for a reviewer.
    Definitions are in [Vertices.v] ([vertex], [support]), [Ideal.v] (stage 1)
    and [Placement.v] (stage 2).  Everything holds over any ordered field, the
    rationals and the reals among them, for any number of jobs, servers,
    options and resources.  Each theorem is followed by what it assumes. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Proofs Require Import Vertices Ideal Placement SynergyExamples.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Stage1.
Variables (R : realFieldType) (Job Option Server Resource : finType).
Variables (job : Option -> Job) (need : Option -> Resource -> R) (rate : Option -> R).
Variables (fair : Job -> R) (capacity : Server -> Resource -> R).

(** Theorem 4.1: every fair schedule on the servers, split or not, becomes a
    point of LP (1-5) of the same throughput when the servers are merged; so
    whatever bounds the LP bounds every schedule. *)
Theorem theorem_4_1 (x : Server * Option -> R) :
  schedule job need rate fair capacity x ->
  ideal_lp job need rate fair capacity (merged x) /\
  value rate (merged x) = schedule_value rate x.
Proof. exact: schedule_bounded. Qed.

Theorem theorem_4_1_bound (x : Server * Option -> R) (best : R) :
  (forall y, ideal_lp job need rate fair capacity y -> value rate y <= best) ->
  schedule job need rate fair capacity x -> schedule_value rate x <= best.
Proof. by move=> ub /schedule_bounded[/ub + <-]. Qed.

(** An unsplit schedule becomes an integral point, so the ILP bounds those. *)
Theorem theorem_4_1_unsplit (x : Server * Option -> R) :
  schedule job need rate fair capacity x -> (forall v, x v = 0 \/ x v = 1) ->
  integral (merged x).
Proof. exact: unsplit_integral. Qed.

(** Fixing: for integral points row (5) says "each chosen option is fair". *)
Theorem fixing_is_exact (y : Option -> R) :
  one_each job y -> integral y ->
  (fair_row job rate fair y <-> forall o, y o = 1 -> fair (job o) <= rate o).
Proof. exact: fixing. Qed.

(** The price certificate: for any prices >= 0, L(price) bounds every point of
    the LP, with row (5) or without. *)
Theorem price_certificate (price : Resource -> R) (best : Job -> Option) (y : Option -> R) :
  (forall r, 0 <= price r) ->
  (forall o, priced need rate price o <= priced need rate price (best (job o))) ->
  one_each job y -> within need y (total capacity) ->
  value rate y <= \sum_r price r * total capacity r
                  + \sum_j priced need rate price (best j).
Proof. exact: lagrangian_bound. Qed.

(** Reduced-cost fixing. *)
Theorem fixing_by_reduced_cost (price : Resource -> R) (profit : Job -> R)
    (cap : Resource -> R) (y : Option -> R) (o : Option) :
  (forall r, 0 <= price r) -> (forall o', priced need rate price o' <= profit (job o')) ->
  one_each job y -> integral y -> within need y cap ->
  price_bound price cap profit - value rate y < profit (job o) - priced need rate price o ->
  y o = 0.
Proof. exact: reduced_cost_fixing. Qed.

(** At most K fractional jobs in a vertex of the fixed LP. *)
Theorem at_most_K_fractional (cap : Resource -> R) (y : Option -> R) :
  vertex (fixed_lp job need cap) y -> (#|fractional job y| <= #|Resource|)%N.
Proof. exact: vertex_fractional. Qed.

(** Rounding: with floors, any point of the fixed LP has an integral point that
    loses at most K times the largest gain of an option over its job's floor. *)
Theorem rounding_with_floors (cap : Resource -> R) (y : Option -> R)
    (floor : Job -> Option) (gain : R) :
  (forall j, job (floor j) = j) ->
  (forall o r, need (floor (job o)) r <= need o r) ->
  0 <= gain -> (forall o, rate o - rate (floor (job o)) <= gain) ->
  fixed_lp job need cap y ->
  exists z, [/\ fixed_lp job need cap z, integral z
              & value rate y <= value rate z + #|Resource|%:R * gain].
Proof. exact: rounding_loss. Qed.

End Stage1.

Section Stage2.
Variables (R : realFieldType) (Server Job Resource : finType).
Variables (demand : Job -> Resource -> R) (capacity : Server -> Resource -> R).

(** The split bound: q resources (GPUs are one), s servers.  A vertex of the
    placement LP has at most q (s - 1) pieces more than jobs ... *)
Theorem extra_pieces (x : Server * Job -> R) :
  vertex (placement demand capacity) x ->
  (#|support x| <= #|Job| + #|Resource| * (#|Server| - 1))%N.
Proof. exact: vertex_pieces_bound. Qed.

(** ... or q (s - c) where the pieces fall into c parts that share no job ... *)
Theorem extra_pieces_components (x : Server * Job -> R) (C : finType)
    (class : Server -> C) (classj : Job -> C) :
  vertex (placement demand capacity) x -> (forall i j, 0 < x (i, j) -> class i = classj j) ->
  (#|support x| <= #|Job| + #|Resource| * (#|Server| - #|[set class i | i : Server]|))%N.
Proof. exact: vertex_pieces_components. Qed.

(** ... and no more than there are full rows. *)
Theorem extra_pieces_tight (x : Server * Job -> R) :
  vertex (placement demand capacity) x ->
  (#|support x| <= #|Job| + #|tight_rows demand capacity x|)%N.
Proof. exact: vertex_pieces_tight. Qed.

(** Hence the split jobs: at most q (s - 1) ... *)
Theorem split_jobs_bound (x : Server * Job -> R) :
  vertex (placement demand capacity) x ->
  (#|split_jobs x| <= #|Resource| * (#|Server| - 1))%N.
Proof. exact: split_bound. Qed.

(** ... so, with GPU, CPU and memory, at most the paper's 3 s. *)
Theorem three_s (x : Server * Job -> R) :
  #|Resource| = 3%N -> vertex (placement demand capacity) x ->
  (#|split_jobs x| <= 3 * #|Server|)%N.
Proof.
move=> q3 vx; apply: leq_trans (split_bound vx) _.
by rewrite q3 leq_mul2l leq_subr.
Qed.

(** Recursive bisection: every placement that it makes gives each of the [s]
    servers exactly its part of the demand, loses no part of a job, and has at
    most q (s - 1) pieces more than there are jobs. *)
Theorem bisection_bound (s : nat) (p : {ffun Job -> R}) (x : seq {ffun Job -> R}) :
  nonneg p -> bisection demand s p x ->
  [/\ size x = s,
      forall y, y \in x -> nonneg y /\ forall r, used demand y r = used demand p r / s%:R,
      forall j, \sum_(y <- x) y j = p j
    & (\sum_(y <- x) #|support y| <= #|support p| + #|Resource| * (s - 1))%N].
Proof. exact: bisection_sound. Qed.

(** The same count where a half need not get exactly its part, and where parts that
    fit uncut are left so, as the code does it. *)
Theorem halving_bound (each : Resource -> R) (s : nat) (p : {ffun Job -> R})
    (x : seq {ffun Job -> R}) :
  halving demand each s p x ->
  [/\ size x = s,
      forall y, y \in x -> nonneg y /\ forall r, used demand y r <= each r,
      forall j, \sum_(y <- x) y j = p j
    & (\sum_(y <- x) #|support y| <= #|support p| + #|Resource| * (s - 1))%N].
Proof. exact: halving_sound. Qed.

(** It can always go on, however it halves the servers. *)
Theorem bisection_possible (half : nat -> nat) :
  (forall s, 1 < s -> 0 < half s < s)%N ->
  forall s p, (0 < s)%N -> nonneg p -> exists x, bisection demand s p x.
Proof. exact: bisection_exists. Qed.

End Stage2.

(** So jobs whose demands fit on [s] identical servers in sum can be placed. *)
Theorem bisection_on_servers (R : realFieldType) (Job Resource : finType)
    (demand : Job -> Resource -> R) (each : Resource -> R) (s : nat) (half : nat -> nat) :
  (forall n, 1 < n -> 0 < half n < n)%N -> (0 < s)%N ->
  (forall r, \sum_j demand j r <= s%:R * each r) ->
  exists x : seq {ffun Job -> R},
    [/\ size x = s,
        forall y, y \in x -> (forall j, 0 <= y j) /\ forall r, \sum_j demand j r * y j <= each r,
        forall j, \sum_(y <- x) y j = 1
      & (\sum_(y <- x) #|support y| <= #|Job| + #|Resource| * (s - 1))%N].
Proof. exact: bisection_places. Qed.

(** Theorem 4.1 for what stage 2 makes: each job in one fair configuration, its
    pieces anywhere, whole or not.  No such placement beats the ideal LP. *)
Theorem theorem_4_1_placements (R : realFieldType) (Job Option Server Resource : finType)
    (job : Option -> Job) (need : Option -> Resource -> R) (rate : Option -> R)
    (fair : Job -> R) (capacity : Server -> Resource -> R)
    (config : Job -> Option) (x : Server * Job -> R) (best : R) :
  (forall j, job (config j) = j) -> (forall j, fair j <= rate (config j)) ->
  placement (fun j => need (config j)) capacity x ->
  (forall y, ideal_lp job need rate fair capacity y -> value rate y <= best) ->
  \sum_j rate (config j) <= best.
Proof.
move=> jc fc xP ub; have [S <-] := placement_is_schedule (rate := rate) jc fc xP.
by have [/ub + <-] := schedule_bounded S.
Qed.

Print Assumptions theorem_4_1.
Print Assumptions theorem_4_1_bound.
Print Assumptions theorem_4_1_unsplit.
Print Assumptions fixing_is_exact.
Print Assumptions price_certificate.
Print Assumptions fixing_by_reduced_cost.
Print Assumptions at_most_K_fractional.
Print Assumptions rounding_with_floors.
Print Assumptions extra_pieces.
Print Assumptions extra_pieces_components.
Print Assumptions extra_pieces_tight.
Print Assumptions split_jobs_bound.
Print Assumptions three_s.
Print Assumptions bisection_bound.
Print Assumptions halving_bound.
Print Assumptions bisection_possible.
Print Assumptions bisection_on_servers.
Print Assumptions theorem_4_1_placements.

(** The hypotheses can hold and are needed ([SynergyExamples.v]). *)
Print Assumptions split_bound_attained.
Print Assumptions vertex_needed.
Print Assumptions vertex_needed_for_K.
Print Assumptions floors_needed.
Print Assumptions prices_must_not_be_negative.
Print Assumptions fair_schedule_exists.
