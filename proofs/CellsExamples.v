(** The hypotheses of Theorem 1 hold for the paper's rack, and no conclusion
    survives without them. *)

From Coq Require Import Arith List Lia Bool ZArith Permutation.
From Proofs Require Import Cells CellsProofs CellsTheorems.
Import ListNotations.

Lemma lowest_valid : valid_policy lowest.
Proof.
  intros k l H. destruct l as [| x r]; [contradiction |]. simpl. clear H.
  assert (G : forall l a, In (fold_left Nat.min l a) (a :: l)).
  { induction l as [| y l IH]; intros a; simpl; [now left |].
    destruct (IH (Nat.min a y)) as [E | E].
    - rewrite <- E. destruct (Nat.min_spec a y) as [(_ & ->) | (_ & ->)]; auto.
    - right. now right. }
  apply G.
Qed.

(** Requests one after another, by the lowest address; [None] once one fails. *)
Fixpoint run (p : chain) (q : reservation) (s : state) (l : list (nat * nat)) : option state :=
  match l with
  | [] => Some s
  | (t, k) :: r => match allocate p q lowest s t k with
                   | Some (s', _) => run p q s' r
                   | None => None
                   end
  end.

Lemma run_reachable : forall p q l s s',
  reachable p q s -> run p q s l = Some s' -> reachable p q s'.
Proof.
  induction l as [| (t, k) l IH]; simpl; intros s s' R E; [now inversion E; subst |].
  destruct (allocate p q lowest s t k) as [(s1, i) |] eqn:A; [| discriminate].
  apply (IH s1); [| assumption]. exact (reach_allocate p q s lowest t k s1 i R lowest_valid A).
Qed.

(** ** The paper's four-node rack (Figure 3)

    Four nodes of two sockets of two switches of two GPUs.  Tenants A and B
    reserve one cell of each of the three lower levels (7 GPUs each), tenant C
    two nodes and one switch (18 GPUs): exactly the 32 GPUs. *)
Definition rack : chain := {| top := 3; cells := 4; factor := fun _ => 2 |}.
Definition tenant_A := 0. Definition tenant_B := 1. Definition tenant_C := 2.
Definition rack_quota (t k : nat) : nat :=
  match t, k with
  | 2, 3 => 2 | 2, 1 => 1 | 2, _ => 0
  | _, 3 => 0
  | _, _ => 1
  end.
Definition rack_reservation : reservation :=
  {| tenants := [tenant_A; tenant_B; tenant_C]; quota := rack_quota |}.

Lemma rack_wf : wf rack.
Proof. intros k _. simpl. lia. Qed.

Lemma rack_tenants : NoDup (tenants rack_reservation).
Proof. repeat constructor; simpl; intuition discriminate. Qed.

Definition nodupb (l : list nat) : bool :=
  (fix go l := match l with [] => true | x :: r => negb (mem Nat.eqb x r) && go r end) l.

Lemma nodupb_sound : forall l, nodupb l = true -> NoDup l.
Proof.
  induction l as [| x l IH]; simpl; intros H; [constructor |].
  apply andb_true_iff in H as (H1 & H2). constructor; [| now apply IH].
  intros C. apply (mem_In _ _ Nat.eqb_eq) in C. rewrite C in H1. discriminate.
Qed.

Lemma rack_feasible : feasible_start rack rack_reservation.
Proof.
  exists [(3, 0); (3, 1); (2, 4); (2, 5); (1, 12); (1, 13); (1, 14); (0, 30); (0, 31)].
  split; [| split].
  - intros c H. split.
    + simpl in H. repeat (destruct H as [<- | H]; [simpl; lia |]). contradiction.
    + intros g Hg. unfold all_gpus. apply in_seq. unfold gpus in Hg. apply in_seq in Hg.
      simpl in H. repeat (destruct H as [<- | H]; [simpl in *; lia |]). contradiction.
  - apply nodupb_sound. vm_compute. reflexivity.
  - intros k Hk. simpl in Hk. do 4 (destruct k as [| k]; [reflexivity |]). lia.
Qed.

(** Everything that was reserved can be requested, in an order that splits a
    node early, and then nothing is left. *)
Example rack_full : exists s,
  run rack rack_reservation (initial rack)
    [(0, 0); (1, 1); (2, 3); (0, 2); (2, 1); (1, 0); (2, 3); (0, 1); (1, 2)] = Some s /\
  free_cells rack s = [].
Proof. eexists. vm_compute. split; reflexivity. Qed.

(** ** Without the quota check a legal request fails: A takes three nodes that
    it never reserved, and C cannot have its second. *)
Example quota_check_needed :
  let s1 := fst (grant rack lowest (initial rack) tenant_A 0 3) in
  let s2 := fst (grant rack lowest s1 tenant_A 0 3) in
  let s3 := fst (grant rack lowest s2 tenant_A 0 3) in
  exists s4, run rack rack_reservation s3 [(tenant_C, 3)] = Some s4 /\
    legalb rack rack_reservation s4 tenant_C 3 = true /\
    allocate rack rack_reservation lowest s4 tenant_C 3 = None.
Proof. eexists. vm_compute. repeat split. Qed.

(** ** Without a feasible start a legal request fails: C reserves a third node. *)
Definition too_much : reservation :=
  {| tenants := [tenant_A; tenant_B; tenant_C];
     quota := fun t k => if (t =? 2) && (k =? 3) then 3 else rack_quota t k |}.

Example feasible_start_needed : exists s,
  reachable rack too_much s /\
  legalb rack too_much s tenant_A 1 = true /\
  forall choose, allocate rack too_much choose s tenant_A 1 = None.
Proof.
  destruct (run rack too_much (initial rack) [(2, 3); (2, 3); (2, 3); (0, 2); (1, 2)])
    as [s |] eqn:E; [| vm_compute in E; discriminate].
  exists s. assert (R := run_reachable _ _ _ _ _ (reach_initial _ _) E).
  vm_compute in E. inversion E; subst. split; [exact R |]. split; [reflexivity |].
  intros choose. reflexivity.
Qed.

(** ** Without split factors of at least one a cell has no GPUs, so that any number of
    them is disjoint, and a legal request fails. *)
Definition hollow : chain := {| top := 1; cells := 1; factor := fun _ => 0 |}.
Definition hollow_reservation : reservation :=
  {| tenants := [0]; quota := fun _ k => match k with 1 => 2 | _ => 0 end |}.

Example wf_needed :
  feasible_start hollow hollow_reservation /\
  exists s, reachable hollow hollow_reservation s /\
    legalb hollow hollow_reservation s 0 1 = true /\
    forall choose, allocate hollow hollow_reservation choose s 0 1 = None.
Proof.
  split.
  - exists [(1, 0); (1, 1)]. split; [| split].
    + intros c [<- | [<- | []]]; (split; [simpl; lia | intros g []]).
    + constructor.
    + intros k Hk. simpl in Hk. do 2 (destruct k as [| k]; [reflexivity |]). lia.
  - destruct (run hollow hollow_reservation (initial hollow) [(0, 1)]) as [s |] eqn:E;
      [| vm_compute in E; discriminate].
    exists s. assert (R := run_reachable _ _ _ _ _ (reach_initial _ _) E).
    vm_compute in E. inversion E; subst. split; [exact R |]. split; reflexivity.
Qed.

(** ** A policy that names a cell that is not free breaks the partition. *)
Example valid_policy_needed :
  exists s i, allocate rack rack_reservation (fun _ _ => 99) (initial rack) tenant_C 3
              = Some (s, i) /\
  ~ Permutation (gpus_of rack (free_cells rack s ++ map snd (held s))) (all_gpus rack).
Proof.
  eexists; eexists. split; [reflexivity |]. intros P.
  apply Permutation_length in P. vm_compute in P. discriminate.
Qed.

(** ** A detour that leaves S_l >= 1 at the level it splits is not safe if a
    level in between has no slack: two top cells of four GPUs, one tenant. *)
Definition small : chain := {| top := 2; cells := 2; factor := fun _ => 2 |}.
Definition small_reservation : reservation :=
  {| tenants := [0]; quota := fun _ k => match k with 0 => 2 | 1 => 3 | _ => 0 end |}.

Example detour_needs_every_level : exists s s1 i s2,
  reachable small small_reservation s /\
  (1 <= slack small small_reservation s 2)%Z /\
  slack small small_reservation s 1 = 0%Z /\
  detour small small_reservation lowest s 0 2 0 = Some (s1, i) /\
  run small small_reservation s1 [(0, 1)] = Some s2 /\
  legalb small small_reservation s2 0 1 = true /\
  allocate small small_reservation lowest s2 0 1 = None.
Proof.
  destruct (run small small_reservation (initial small) [(0, 1); (0, 0)]) as [s |] eqn:E;
    [| vm_compute in E; discriminate].
  assert (R := run_reachable _ _ _ _ _ (reach_initial _ _) E).
  vm_compute in E. inversion E; subst; clear E.
  eexists; eexists; eexists; eexists. split; [exact R |].
  vm_compute. repeat split. discriminate.
Qed.

(** ** Looking at each level alone is not enough: every level's debt could be
    met by splitting what is free, but not all debts together. *)
Example level_by_level_is_wrong :
  let p := {| top := 1; cells := 1; factor := fun _ => 2 |} in
  let q := {| tenants := [0]; quota := fun _ k => match k with 0 => 1 | 1 => 1 | _ => 0 end |} in
  (owed q (initial p) 1 <= nfree (initial p) 1)%Z /\
  (owed q (initial p) 0 <= nfree (initial p) 0 + 2 * nfree (initial p) 1)%Z /\
  slack p q (initial p) 0 = (-1)%Z.
Proof. vm_compute. repeat split; discriminate. Qed.
