(** The statements, for a reviewer.  Everything they mention is defined in
    [Cells.v] (HiveD).  Each is followed by the report of what it assumes. *)

From Coq Require Import Arith List Lia Bool ZArith Permutation.
From Proofs Require Import Cells CellsProofs CellsTheorems CellsExamples.
Import ListNotations.

(** * HiveD *)

(** Theorem 1 (section 3.4): any number of levels, any split factors, any
    number of tenants, a fresh policy for every operation, merging or not at
    every level.  From a feasible start, in every reachable state
    - every legal request is granted, by splitting at most [top p - k] cells,
      and the cell handed out was free;
    - every held cell can be released;
    - r_k - a_k <= f_k + F_k at every level;
    - free and held cells together contain every GPU exactly once. *)
Theorem hived_theorem_1 : forall p q,
  wf p -> NoDup (tenants q) -> feasible_start p q ->
  forall s, reachable p q s ->
  (forall t k choose, valid_policy choose -> legalb p q s t k = true ->
     exists d s' i, k + d <= top p /\ grant p choose s t d k = (s', i) /\
       allocate p q choose s t k = Some (s', i) /\ held s' = (t, (k, i)) :: held s /\
       incl (gpus p (k, i)) (gpus_of p (free_cells p s))) /\
  (forall t c merge, In (t, c) (held s) -> exists s', release p merge s t c = Some s') /\
  (forall k, k <= top p ->
     (reserved q k - allocated s k <= nfree s k + splittable p q s k)%Z) /\
  Permutation (gpus_of p (free_cells p s ++ map snd (held s))) (all_gpus p).
Proof.
  intros p q Hwf Hts F s R.
  assert (I := reachable_invariant p Hwf q Hts F s R).
  split; [| split; [| split]].
  - intros t k choose Hc L.
    destruct (legal_found p q Hts s t k I L) as (d & Hd & Hkd & Hne & _).
    destruct (grant p choose s t d k) as (s', i) eqn:G. exists d, s', i.
    destruct (grant_effect p Hwf q s choose t k d s' i Hc (inv_weight p q s I) Hkd Hne G)
      as (Hh & _).
    repeat split; try assumption.
    + unfold allocate. now rewrite L, Hd, G.
    + exact (grant_was_free p Hwf s choose t k d s' i Hc Hkd Hne G).
  - intros t c merge Hin. unfold release.
    apply (mem_In _ _ held_eqb_eq) in Hin. rewrite Hin. eexists; reflexivity.
  - intros k Hk. assert (H := inv_slack p q s I k Hk). unfold slack, owed in H. lia.
  - exact (partition p s (inv_weight p q s I)).
Qed.
Print Assumptions hived_theorem_1.

(** What is not legal is refused, and so is a release by anyone but the holder. *)
Theorem hived_refusals : forall p q s,
  (forall t k choose, legalb p q s t k = false -> allocate p q choose s t k = None) /\
  (forall t c merge, ~ In (t, c) (held s) -> release p merge s t c = None).
Proof.
  intros p q s. split.
  - intros t k choose L. unfold allocate. now rewrite L.
  - intros t c merge N. unfold release. destruct (mem held_eqb (t, c) (held s)) eqn:M;
      [| reflexivity]. apply (mem_In _ _ held_eqb_eq) in M. contradiction.
Qed.
Print Assumptions hived_refusals.

(** S >= 0 is exact, in any state whose free cells are disjoint, reachable or
    not: it holds at every level if and only if all owed cells can be carved
    out of the free cells at the same time. *)
Theorem slack_is_exact : forall p q s,
  wf p -> NoDup (gpus_of p (free_cells p s)) ->
  (forall k, k <= top p -> (0 <= owed q s k)%Z) ->
  ((forall k, k <= top p -> (0 <= slack p q s k)%Z) <-> exists l, carving p q s l).
Proof.
  intros p q s Hwf ND Ho. split.
  - now apply slack_carving.
  - intros (l & Hl). exact (carving_slack p Hwf q s l Hl).
Qed.
Print Assumptions slack_is_exact.

(** At the start: no reservation fits unless no slack is negative, and then it
    does. *)
Theorem feasible_iff_slack : forall p q, wf p ->
  (feasible_start p q <-> forall k, k <= top p -> (0 <= slack p q (initial p) k)%Z).
Proof.
  intros p q Hwf. split; [now apply feasible_slack |].
  intros Hs. destruct (slack_carving p q (initial p)) as (l & Hin & ND & Hc).
  - rewrite gpus_initial. apply seq_NoDup.
  - intros k _. unfold owed, allocated, reserved. simpl. lia.
  - assumption.
  - exists l. split; [| split; [assumption |]].
    + intros c Hcl. destruct (Hin c Hcl) as (b & Hb & Hlev & Hincl).
      assert (Lb := free_cells_level p (initial p) b Hb). split; [lia |].
      intros g Hg. rewrite <- gpus_initial. apply in_flat_map. exists b. auto.
    + intros k Hk. rewrite Hc by assumption. unfold owed, allocated. simpl. lia.
Qed.
Print Assumptions feasible_iff_slack.

(** The detour rule: serving level [k] by splitting level [k + d], whatever is
    free below, keeps every slack non-negative exactly when S_j >= 1 for every
    level k < j <= k + d. *)
Theorem detour_rule : forall p q,
  wf p -> NoDup (tenants q) -> feasible_start p q ->
  forall s, reachable p q s ->
  forall choose t d k s' i, valid_policy choose -> detour p q choose s t d k = Some (s', i) ->
  ((forall j, j <= top p -> (0 <= slack p q s' j)%Z) <->
   (forall j, k < j <= k + d -> (1 <= slack p q s j)%Z)).
Proof.
  intros p q Hwf Hts F s R choose t d k s' i Hc D.
  exact (detour_exact p Hwf q s choose t d k s' i (reachable_invariant p Hwf q Hts F s R) Hc D).
Qed.
Print Assumptions detour_rule.

(** The hypotheses hold for the paper's rack, and each is needed
    ([CellsExamples.v]), but for [NoDup (tenants q)], which only says that a
    tenant is listed once. *)
Theorem rack_satisfies_the_hypotheses :
  wf rack /\ NoDup (tenants rack_reservation) /\ feasible_start rack rack_reservation.
Proof. exact (conj rack_wf (conj rack_tenants rack_feasible)). Qed.
Print Assumptions rack_satisfies_the_hypotheses.
Print Assumptions rack_full.
Print Assumptions quota_check_needed.
Print Assumptions feasible_start_needed.
Print Assumptions wf_needed.
Print Assumptions valid_policy_needed.
Print Assumptions detour_needs_every_level.
Print Assumptions level_by_level_is_wrong.
