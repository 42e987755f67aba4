(** The statements about Synergy-TUNE, for a reviewer.  Definitions are in
    [Tune.v]: any finite number of resources, any placement rule (the steps say
    what TUNE may do, not which server it prefers), multi-server jobs. *)

From Coq Require Import Arith List Lia.
From Proofs Require Import Tune.
Import ListNotations.

(** Whatever TUNE does, no server is overfull, and every job whose demand
    saturates it keeps at least its fair throughput. *)
Theorem tune_fits_and_is_fair :
  forall (Resource : Type) per_gpu gpus_each l, tuned Resource per_gpu gpus_each l ->
  fits Resource per_gpu gpus_each l /\
  forall e, In e l -> saturating Resource (who Resource e) ->
    fair Resource per_gpu (who Resource e) (allotment Resource per_gpu e).
Proof.
  intros Resource per_gpu gpus_each l T. split.
  - exact (tuned_fits Resource per_gpu gpus_each l T).
  - intros e _ S. exact (always_fair Resource per_gpu e S).
Qed.
Print Assumptions tune_fits_and_is_fair.

(** A step adds one job; nobody who was placed is dropped or moved. *)
Theorem tune_drops_nobody :
  forall (Resource : Type) per_gpu gpus_each l m,
  step Resource per_gpu gpus_each l m ->
  exists e, map (who Resource) m = who Resource e :: map (who Resource) l /\
            map (pieces Resource) m = pieces Resource e :: map (pieces Resource) l.
Proof. exact step_keeps_jobs. Qed.
Print Assumptions tune_drops_nobody.

(** The fallback is always there: where the GPUs of a job are free, a step
    places it on them, whatever else is free there. *)
Theorem tune_never_stuck :
  forall (Resource : Type) (resources : list Resource),
  (forall r, In r resources) ->
  forall per_gpu gpus_each l j ps,
  gpus_fit Resource gpus_each ({| who := j; pieces := ps; how := AtShare |} :: l) ->
  exists m, step Resource per_gpu gpus_each l m /\
            map (who Resource) m = j :: map (who Resource) l /\
            map (pieces Resource) m = ps :: map (pieces Resource) l.
Proof. exact never_stuck. Qed.
Print Assumptions tune_never_stuck.

(** And they are free as long as the GPUs last: a job that asks for no more GPUs
    than [servers] servers have left is placed, on them, with all of its GPUs. *)
Theorem tune_places_next :
  forall (Resource : Type) (resources : list Resource),
  (forall r, In r resources) ->
  forall per_gpu gpus_each l j servers g,
  gpus_fit Resource gpus_each l ->
  g + sum (map (fun i => gpus_used Resource i l) (seq 0 servers)) <= servers * gpus_each ->
  exists ps m, sum (map snd ps) = g /\ (forall i, In i (map fst ps) -> i < servers) /\
    step Resource per_gpu gpus_each l m /\
    map (who Resource) m = j :: map (who Resource) l /\
    map (pieces Resource) m = ps :: map (pieces Resource) l.
Proof. exact places_next. Qed.
Print Assumptions tune_places_next.

(** Why any order of switching works: where a resource is overdrawn, a job on
    that server holds more than its share of that very resource, and every
    switch uses up one job at its demand. *)
Theorem tune_giver :
  forall (Resource : Type) per_gpu gpus_each l i r,
  gpus_used Resource i l <= gpus_each -> gpus_each * per_gpu r < used Resource per_gpu i r l ->
  exists e, In e l /\ 0 < gpus_on i (pieces Resource e) /\
            per_gpu r < allotment Resource per_gpu e r.
Proof. exact overdrawn_has_giver. Qed.
Print Assumptions tune_giver.

Theorem tune_switches_end :
  forall (Resource : Type) per_gpu l m, switch Resource per_gpu l m ->
  at_demand Resource l = S (at_demand Resource m).
Proof. exact switch_counts. Qed.
Print Assumptions tune_switches_end.

(** So the order does not matter: whatever has been switched, either everything
    fits, or a job on an overdrawn server holds more than its share of what is
    missing there; and the end can be reached. *)
Theorem tune_any_order :
  forall (Resource : Type) (resources : list Resource),
  (forall r, In r resources) ->
  forall per_gpu gpus_each l m,
  gpus_fit Resource gpus_each l -> switches Resource per_gpu l m ->
  (fits Resource per_gpu gpus_each m \/ exists i r a e b,
     gpus_each * per_gpu r < used Resource per_gpu i r m /\ m = a ++ e :: b /\
     0 < gpus_on i (pieces Resource e) /\ per_gpu r < allotment Resource per_gpu e r /\
     switch Resource per_gpu m (a ++ to_share Resource e :: b)) /\
  exists n, switches Resource per_gpu m n /\ fits Resource per_gpu gpus_each n.
Proof. exact any_order. Qed.
Print Assumptions tune_any_order.

(** Switching at once every job that exceeds its share, on a closed set of
    servers, fits as well. *)
Theorem tune_switch_all_fits :
  forall (Resource : Type) per_gpu gpus_each l m e touched,
  fits Resource per_gpu gpus_each l -> gpus_fit Resource gpus_each (e :: l) ->
  within Resource (allotment Resource per_gpu e) per_gpu ->
  (forall i, 0 < gpus_on i (pieces Resource e) -> touched i = true) ->
  closed Resource per_gpu touched l -> switched Resource per_gpu touched l m ->
  fits Resource per_gpu gpus_each (e :: m).
Proof. exact switch_all_fits. Qed.
Print Assumptions tune_switch_all_fits.

(** The rule that is safe: at least the share in every resource, or at least
    the demand in every resource. *)
Theorem share_or_demand_is_fair :
  forall (Resource : Type) per_gpu j v,
  within Resource per_gpu v \/
  (saturating Resource j /\ within Resource (demand Resource j) v) ->
  fair Resource per_gpu j v.
Proof.
  intros Resource per_gpu j v [H | (S & H)].
  - exact (fair_if_share Resource per_gpu j v H).
  - exact (fair_if_demand Resource per_gpu j v S H).
Qed.
Print Assumptions share_or_demand_is_fair.

(** What is not safe: the smaller of both in each resource, a demand that does not
    saturate, and a set of servers that is not closed ([Tune.v], at the end). *)
Print Assumptions minimum_is_unfair.
Print Assumptions saturating_needed.
Print Assumptions closed_needed.
