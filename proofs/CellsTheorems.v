(** From the invariants to the theorems: the partition of the GPUs, Theorem 1,
    "slack is not negative" as an exact criterion, and the detour rule. *)

From Coq Require Import Arith List Lia Bool ZArith Permutation.
From Proofs Require Import Cells CellsProofs.
Import ListNotations.

Section WithChain.
Variable p : chain.
Hypothesis Hwf : wf p.

(** ** GPUs as a weight *)

Definition covers (g : nat) (c : cell) : nat := count_occ Nat.eq_dec (gpus p c) g.

Lemma count_gpus_of : forall g l,
  count_occ Nat.eq_dec (gpus_of p l) g = wsum (covers g) l.
Proof.
  intros g l; induction l as [| c l IH]; [reflexivity |].
  unfold gpus_of in *. simpl flat_map. rewrite count_occ_app, IH, wsum_cons. reflexivity.
Qed.

Lemma flat_map_seq : forall w n a,
  flat_map (fun c => seq (c * w) w) (seq a n) = seq (a * w) (n * w).
Proof.
  intros w n; induction n as [| n IH]; intros a; [reflexivity |].
  simpl. rewrite IH, seq_app. f_equal. f_equal. lia.
Qed.

Lemma gpus_children : forall k i,
  gpus p (S k, i) = flat_map (fun c => gpus p (k, c)) (children p k i).
Proof.
  intros k i. unfold gpus, children. simpl fst; simpl snd. rewrite flat_map_seq.
  simpl width. f_equal. lia.
Qed.

Lemma covers_additive : forall g, additive p (covers g).
Proof.
  intros g k i _. unfold covers at 1. rewrite gpus_children.
  induction (children p k i) as [| c l IH]; [reflexivity |].
  simpl flat_map. rewrite count_occ_app, IH, wsum_cons. reflexivity.
Qed.

Lemma fsum_free_cells : forall phi s, fsum p phi (free s) = wsum phi (free_cells p s).
Proof.
  intros phi s. unfold free_cells. rewrite wsum_flat_map. unfold fsum.
  apply wsum_ext. intros k _. now rewrite wsum_map.
Qed.

Lemma free_cells_initial : free_cells p (initial p) = map (pair (top p)) (seq 0 (cells p)).
Proof.
  unfold free_cells. rewrite seq_S, flat_map_app. simpl. rewrite Nat.eqb_refl, app_nil_r.
  replace (flat_map _ (seq 0 (top p))) with (@nil cell); [reflexivity |].
  assert (H : forall l, (forall k, In k l -> k <> top p) ->
    flat_map (fun k => map (pair k) (if k =? top p then seq 0 (cells p) else [])) l = []).
  { induction l as [| k l IH]; intros H; [reflexivity |]. simpl.
    rewrite IH by (intros; apply H; now right).
    assert (N := H k (or_introl eq_refl)). apply Nat.eqb_neq in N. now rewrite N. }
  symmetry. apply H. intros k Hk. apply in_seq in Hk. lia.
Qed.

Lemma gpus_initial : gpus_of p (free_cells p (initial p)) = all_gpus p.
Proof.
  rewrite free_cells_initial. unfold gpus_of, all_gpus.
  replace (seq 0 (cells p * width p (top p)))
    with (flat_map (fun c => seq (c * width p (top p)) (width p (top p))) (seq 0 (cells p)))
    by (rewrite flat_map_seq; reflexivity).
  induction (seq 0 (cells p)) as [| i l IH]; [reflexivity |]. simpl. now rewrite IH.
Qed.

Lemma partition : forall s,
  (forall phi, additive p phi -> weight p phi s = weight p phi (initial p)) ->
  Permutation (gpus_of p (free_cells p s ++ map snd (held s))) (all_gpus p).
Proof.
  intros s H. apply (Permutation_count_occ Nat.eq_dec). intros g.
  assert (W := H _ (covers_additive g)). unfold weight in W.
  rewrite !fsum_free_cells in W. simpl held in W.
  rewrite <- gpus_initial, !count_gpus_of, wsum_app, wsum_map. unfold wsum in *.
  simpl in W. lia.
Qed.

(** ** Slack counts GPUs *)

Definition gpus_above (k : nat) (l : list cell) : nat :=
  wsum (fun c => width p (fst c)) (filter (fun c => k <=? fst c) l).

Lemma gpus_above_step : forall k l,
  gpus_above k l = width p k * count_level k l + gpus_above (S k) l.
Proof.
  intros k l. unfold gpus_above, count_level.
  induction l as [| (j, i) l IH]; [simpl; unfold wsum; simpl; lia |].
  cbn [filter fst].
  destruct (Nat.leb_spec k j), (Nat.eqb_spec j k), (Nat.leb_spec (S k) j);
    subst; cbn [length]; rewrite ?wsum_cons; cbn [fst]; lia.
Qed.

Lemma gpus_above_top : forall l, (forall c, In c l -> fst c <= top p) ->
  gpus_above (S (top p)) l = 0.
Proof.
  intros l H. unfold gpus_above. induction l as [| c l IH]; [reflexivity |].
  cbn [filter]. assert (Hc := H c (or_introl eq_refl)).
  destruct (Nat.leb_spec (S (top p)) (fst c)); [lia |].
  apply IH. intros d Hd. apply H. now right.
Qed.

Lemma gpus_of_length : forall l, length (gpus_of p l) = wsum (fun c => width p (fst c)) l.
Proof.
  induction l as [| c l IH]; [reflexivity |]. unfold gpus_of in *. simpl flat_map.
  rewrite app_length, IH, wsum_cons. unfold gpus at 1. now rewrite seq_length.
Qed.

Lemma width_pos : forall k, k <= top p -> 1 <= width p k.
Proof.
  induction k as [| k IH]; intros H; simpl; [lia |].
  specialize (Hwf k ltac:(lia)). specialize (IH ltac:(lia)). nia.
Qed.

(** w_k S_k = GPUs free at levels >= k minus GPUs owed at levels >= k. *)
Lemma slack_gpus : forall f o (b l : list cell),
  (forall c, In c b -> fst c <= top p) -> (forall c, In c l -> fst c <= top p) ->
  (forall k, k <= top p -> f k = Z.of_nat (count_level k b)) ->
  (forall k, k <= top p -> o k = Z.of_nat (count_level k l)) ->
  forall k, k <= top p ->
    (Z.of_nat (width p k) * sl p f o k = Z.of_nat (gpus_above k b) - Z.of_nat (gpus_above k l))%Z.
Proof.
  intros f o b l Hb Hl Hf Ho. apply down_ind.
  - rewrite sl_top, (gpus_above_step _ b), (gpus_above_step _ l), !gpus_above_top, Hf, Ho by auto.
    lia.
  - intros k Hk IH. rewrite sl_step, (gpus_above_step k b), (gpus_above_step k l), Hf, Ho by lia.
    simpl width in IH. rewrite Nat2Z.inj_mul in IH.
    rewrite !Nat2Z.inj_add, !Nat2Z.inj_mul. nia.
Qed.

Lemma filter_gpus_NoDup : forall g l, NoDup (gpus_of p l) -> NoDup (gpus_of p (filter g l)).
Proof.
  intros g l H. rewrite (NoDup_count_occ Nat.eq_dec) in *. intros x. specialize (H x).
  rewrite count_gpus_of in *. revert H. generalize 1.
  induction l as [| c l IH]; intros n H; [assumption |]. rewrite wsum_cons in H. simpl filter.
  destruct (g c).
  - rewrite wsum_cons. specialize (IH (n - covers x c) ltac:(lia)). lia.
  - apply IH. lia.
Qed.

(** Disjoint cells inside [b], level by level, leave no slack negative. *)
Lemma slack_of_cover : forall f o (b l : list cell),
  (forall c, In c b -> fst c <= top p) -> (forall c, In c l -> fst c <= top p) ->
  (forall k, k <= top p -> f k = Z.of_nat (count_level k b)) ->
  (forall k, k <= top p -> o k = Z.of_nat (count_level k l)) ->
  NoDup (gpus_of p l) ->
  (forall k, k <= top p -> incl (gpus_of p (filter (fun c => k <=? fst c) l))
                                (gpus_of p (filter (fun c => k <=? fst c) b))) ->
  forall k, k <= top p -> (0 <= sl p f o k)%Z.
Proof.
  intros f o b l Hb Hl Hf Ho ND Hin k Hk.
  assert (E := slack_gpus f o b l Hb Hl Hf Ho k Hk).
  assert (L := NoDup_incl_length (filter_gpus_NoDup (fun c => k <=? fst c) l ND) (Hin k Hk)).
  rewrite !gpus_of_length in L. fold (gpus_above k l) (gpus_above k b) in L.
  assert (W := width_pos k Hk). nia.
Qed.

Lemma count_level_wsum : forall k l,
  count_level k l = wsum (fun c => if fst c =? k then 1 else 0) l.
Proof.
  intros k l. unfold count_level. induction l as [| c l IH]; [reflexivity |].
  rewrite wsum_cons. simpl. destruct (fst c =? k); simpl; now rewrite IH.
Qed.

Lemma wsum_zero : forall A (phi : A -> nat) l, (forall x, In x l -> phi x = 0) -> wsum phi l = 0.
Proof.
  intros A phi l; induction l as [| x l IH]; intros H; [reflexivity |].
  rewrite wsum_cons, H, IH; intuition.
Qed.

Lemma count_free : forall s k, k <= top p -> count_level k (free_cells p s) = length (free s k).
Proof.
  intros s k Hk. rewrite count_level_wsum, <- fsum_free_cells.
  set (phi := fun c : cell => if fst c =? k then 1 else 0).
  assert (U := fsum_upd p phi (free s) k [] Hk).
  replace (fsum p phi (upd (free s) k [])) with 0 in U.
  - replace (wsum (fun i => phi (k, i)) (free s k)) with (length (free s k)) in U.
    + unfold wsum at 1 in U. simpl in U. lia.
    + unfold phi. simpl. rewrite Nat.eqb_refl.
      generalize (free s k). intros l.
      induction l as [| x l IH]; [reflexivity |]. rewrite wsum_cons. cbn [length]. lia.
  - symmetry. unfold fsum. apply wsum_zero. intros j _. apply wsum_zero. intros i Hi.
    unfold phi. simpl. destruct (Nat.eqb_spec j k) as [-> |]; [| reflexivity].
    rewrite upd_same in Hi. contradiction.
Qed.

Lemma free_cells_level : forall s c, In c (free_cells p s) -> fst c <= top p.
Proof.
  intros s c H. unfold free_cells in H. apply in_flat_map in H as (k & Hk & H).
  apply in_map_iff in H as (i & <- & _). apply in_seq in Hk. simpl. lia.
Qed.

Variable q : reservation.

(** A carving proves every slack non-negative. *)
Lemma carving_slack : forall s l, carving p q s l ->
  forall k, k <= top p -> (0 <= slack p q s k)%Z.
Proof.
  intros s l (Hin & ND & Hc). change (forall k, k <= top p ->
    (0 <= sl p (nfree s) (owed q s) k)%Z).
  apply (slack_of_cover _ _ (free_cells p s) l).
  - apply free_cells_level.
  - intros c H. destruct (Hin c H) as (b & Hb & Hlev & _).
    apply free_cells_level in Hb. lia.
  - intros k Hk. unfold nfree. now rewrite count_free.
  - intros k Hk. now rewrite Hc.
  - assumption.
  - intros k Hk g Hg. apply in_flat_map in Hg as (c & Hcl & Hg).
    apply filter_In in Hcl as (Hcl & Hle). apply Nat.leb_le in Hle.
    destruct (Hin c Hcl) as (b & Hb & Hlev & Hincl).
    apply in_flat_map. exists b. split; [| now apply Hincl].
    apply filter_In. split; [assumption |]. apply Nat.leb_le. lia.
Qed.

(** A feasible start is a start with no negative slack. *)
Lemma feasible_slack : feasible_start p q ->
  forall k, k <= top p -> (0 <= slack p q (initial p) k)%Z.
Proof.
  intros (l & Hin & ND & Hc). change (forall k, k <= top p ->
    (0 <= sl p (nfree (initial p)) (owed q (initial p)) k)%Z).
  apply (slack_of_cover _ _ (free_cells p (initial p)) l).
  - apply free_cells_level.
  - intros c H. apply (Hin c H).
  - intros k Hk. unfold nfree. now rewrite count_free.
  - intros k Hk. unfold owed, allocated. simpl. rewrite <- Hc by assumption. lia.
  - assumption.
  - intros k Hk g Hg. apply in_flat_map in Hg as (c & Hcl & Hg).
    apply filter_In in Hcl as (Hcl & _). destruct (Hin c Hcl) as (_ & Hincl).
    apply Hincl in Hg. rewrite <- gpus_initial in Hg.
    apply in_flat_map in Hg as (b & Hb & Hg). apply in_flat_map. exists b.
    split; [| assumption]. apply filter_In. split; [assumption |].
    rewrite free_cells_initial in Hb. apply in_map_iff in Hb as (i & <- & _).
    now apply Nat.leb_le.
Qed.

(** ** Carving by construction *)

Definition inside (s : state) (c : cell) : Prop :=
  exists b, In b (free_cells p s) /\ fst c <= fst b /\ incl (gpus p c) (gpus p b).

Definition cells_from (s : state) (k : nat) : list cell :=
  flat_map (fun j => map (pair j) (free s j)) (seq k (S (top p) - k)).

Lemma cells_from_step : forall s k, k <= top p ->
  cells_from s k = map (pair k) (free s k) ++ cells_from s (S k).
Proof.
  intros s k Hk. unfold cells_from. replace (S (top p) - k) with (S (S (top p) - S k)) by lia.
  reflexivity.
Qed.

Lemma free_inside : forall s k i, k <= top p -> In i (free s k) -> inside s (k, i).
Proof.
  intros s k i Hk Hi. exists (k, i). repeat split; [| simpl; lia | apply incl_refl].
  unfold free_cells. apply in_flat_map. exists k. split; [apply in_seq; lia |].
  now apply in_map.
Qed.

Lemma child_inside : forall s k i c, inside s (S k, i) -> In c (children p k i) -> inside s (k, c).
Proof.
  intros s k i c (b & Hb & Hl & Hi) Hc. exists b. repeat split; [assumption | simpl in *; lia |].
  intros g Hg. apply Hi. rewrite gpus_children. apply in_flat_map. now exists c.
Qed.

Lemma children_length : forall k l, length (flat_map (children p k) l) = factor p k * length l.
Proof.
  intros k l; induction l as [| i l IH]; simpl; [lia |].
  rewrite app_length, IH. unfold children. rewrite seq_length. lia.
Qed.

Lemma count_level_app : forall k l m, count_level k (l ++ m) = count_level k l + count_level k m.
Proof. intros. rewrite !count_level_wsum. apply wsum_app. Qed.

Lemma count_level_pairs : forall k j l,
  count_level k (map (pair j) l) = if j =? k then length l else 0.
Proof.
  intros k j l. rewrite count_level_wsum, wsum_map. simpl.
  induction l as [| x l IH]; [destruct (j =? k); reflexivity |].
  rewrite wsum_cons, IH. destruct (j =? k); simpl; lia.
Qed.

Lemma wsum_children : forall phi k l, additive p phi -> k < top p ->
  wsum (fun c => phi (k, c)) (flat_map (children p k) l) = wsum (fun i => phi (S k, i)) l.
Proof.
  intros phi k l Ha Hk. rewrite wsum_flat_map. apply wsum_ext. intros i _. symmetry. now apply Ha.
Qed.

(** One level: serve what is owed from [avail], keep the rest. *)
Lemma carve_level : forall s k avail done' (n : nat),
  k <= top p -> n <= length avail ->
  (forall i, In i avail -> inside s (k, i)) -> (forall c, In c done' -> inside s c) ->
  exists now rest, length now = n /\ length rest = length avail - n /\ avail = now ++ rest /\
    (forall c, In c (map (pair k) now ++ done') -> inside s c) /\
    (forall i, In i rest -> inside s (k, i)).
Proof.
  intros s k avail done' n Hk Hn Ha Hd. exists (firstn n avail), (skipn n avail).
  rewrite firstn_length, skipn_length, firstn_skipn. repeat split; [lia | |].
  - intros c Hc. apply in_app_or in Hc as [Hc | Hc]; [| now apply Hd].
    apply in_map_iff in Hc as (i & <- & Hi). apply Ha.
    rewrite <- (firstn_skipn n avail). apply in_or_app. now left.
  - intros i Hi. apply Ha. rewrite <- (firstn_skipn n avail). apply in_or_app. now right.
Qed.

Lemma carve : forall s,
  (forall k, k <= top p -> (0 <= owed q s k)%Z) ->
  (forall k, k <= top p -> (0 <= slack p q s k)%Z) ->
  forall k, k <= top p -> exists l rest,
    (forall c, In c l -> inside s c) /\ (forall i, In i rest -> inside s (k, i)) /\
    Z.of_nat (length rest) = slack p q s k /\
    (forall j, j <= top p -> Z.of_nat (count_level j l) = if j <? k then 0%Z else owed q s j) /\
    (forall phi, additive p phi ->
       wsum phi l + wsum (fun i => phi (k, i)) rest = wsum phi (cells_from s k)).
Proof.
  intros s Ho Hs. apply down_ind.
  - assert (S0 := Hs _ (le_n _)). assert (O0 := Ho _ (le_n _)).
    rewrite slack_sl, sl_top in S0. unfold nfree in S0.
    destruct (carve_level s (top p) (free s (top p)) [] (Z.to_nat (owed q s (top p))))
      as (now & rest & Hn & Hr & Happ & Hin & Hrest).
    + lia. + lia. + intros. apply free_inside; [lia | assumption]. + intros c [].
    + rewrite app_nil_r in Hin. exists (map (pair (top p)) now), rest. repeat split; try assumption.
      * rewrite slack_sl, sl_top. unfold nfree. lia.
      * intros j Hj. rewrite count_level_pairs. rewrite Hn.
        destruct (Nat.eqb_spec (top p) j), (Nat.ltb_spec j (top p)); subst; lia.
      * intros phi _. rewrite cells_from_step by lia. unfold cells_from.
        rewrite Nat.sub_diag. simpl. rewrite app_nil_r, !wsum_map, Happ, wsum_app. reflexivity.
  - intros k Hk (l & rest & Hl & Hr & Hlen & Hc & Hw).
    assert (S0 := Hs k ltac:(lia)). assert (O0 := Ho k ltac:(lia)).
    rewrite slack_sl, sl_step, <- slack_sl, <- Hlen in S0 by lia. unfold nfree in S0.
    destruct (carve_level s k (free s k ++ flat_map (children p k) rest) l
                (Z.to_nat (owed q s k)))
      as (now & rest' & Hn & Hr' & Happ & Hin & Hrest).
    + lia.
    + rewrite app_length, children_length. nia.
    + intros i Hi. apply in_app_or in Hi as [Hi | Hi]; [apply free_inside; [lia | assumption] |].
      apply in_flat_map in Hi as (x & Hx & Hi). exact (child_inside s k x i (Hr x Hx) Hi).
    + assumption.
    + exists (map (pair k) now ++ l), rest'. repeat split; try assumption.
      * rewrite slack_sl, sl_step, <- slack_sl, <- Hlen by lia. unfold nfree.
        rewrite Hr', app_length, children_length. nia.
      * intros j Hj. rewrite count_level_app, count_level_pairs, Nat2Z.inj_add, Hc by assumption.
        rewrite Hn. destruct (Nat.eqb_spec k j), (Nat.ltb_spec j k), (Nat.ltb_spec j (S k));
          subst; lia.
      * intros phi Ha. rewrite cells_from_step by lia. rewrite !wsum_app, !wsum_map, <- Hw by assumption.
        assert (E : wsum (fun i => phi (k, i)) (now ++ rest')
                    = wsum (fun i => phi (k, i)) (free s k ++ flat_map (children p k) rest))
          by now rewrite Happ.
        rewrite !wsum_app, wsum_children in E by (assumption || lia). lia.
Qed.

Lemma slack_carving : forall s,
  NoDup (gpus_of p (free_cells p s)) ->
  (forall k, k <= top p -> (0 <= owed q s k)%Z) ->
  (forall k, k <= top p -> (0 <= slack p q s k)%Z) ->
  exists l, carving p q s l.
Proof.
  intros s ND Ho Hs. destruct (carve s Ho Hs 0 ltac:(lia)) as (l & rest & Hl & _ & _ & Hc & Hw).
  exists l. split; [exact Hl |]. split.
  - rewrite (NoDup_count_occ Nat.eq_dec) in *. intros g. specialize (ND g).
    rewrite count_gpus_of in *. assert (W := Hw _ (covers_additive g)).
    unfold cells_from in W. rewrite Nat.sub_0_r in W. fold (free_cells p s) in W. lia.
  - intros k Hk. rewrite Hc by assumption. destruct (Nat.ltb_spec k 0); [lia | reflexivity].
Qed.

(** ** Runs *)

Hypothesis Hts : NoDup (tenants q).

Lemma initial_invariant : feasible_start p q -> invariant p q (initial p).
Proof.
  intros F. split; simpl.
  - reflexivity.
  - intros e [].
  - intros e [].
  - intros t k _. unfold holds. simpl. lia.
  - now apply feasible_slack.
Qed.

Lemma find_le : forall d k fr e, find d k fr = Some e -> e <= d.
Proof.
  induction d as [| d IH]; intros k fr e; simpl; destruct (fr k); intros E; inversion E; try lia.
  destruct (find d (S k) fr) eqn:Fd; simpl in *; [| discriminate].
  apply IH in Fd. inversion E; subst. lia.
Qed.

Lemma detour_exact : forall s choose t d k s' i,
  invariant p q s -> valid_policy choose -> detour p q choose s t d k = Some (s', i) ->
  ((forall j, j <= top p -> (0 <= slack p q s' j)%Z) <->
   (forall j, k < j <= k + d -> (1 <= slack p q s j)%Z)).
Proof.
  intros s choose t d k s' i I Hc. unfold detour.
  destruct (legalb p q s t k && (k + d <=? top p)) eqn:B; [| discriminate].
  apply andb_true_iff in B as (L & B). apply Nat.leb_le in B.
  destruct (free s (k + d)) as [| x r] eqn:Fr; [discriminate |]. intros G; injection G; intros G'.
  assert (Hne : free s (k + d) <> []) by (rewrite Fr; discriminate).
  destruct (grant_effect p Hwf q s choose t k d s' i Hc (inv_weight p q s I) B Hne G')
    as (_ & _ & Hs).
  split.
  - intros H j Hj. specialize (H j ltac:(lia)). rewrite Hs in H by lia.
    unfold between in H. destruct (Nat.ltb_spec k j), (Nat.leb_spec j (k + d)); simpl in H; lia.
  - intros H j Hj. rewrite Hs by assumption. assert (S0 := inv_slack p q s I j Hj).
    unfold between. destruct (Nat.ltb_spec k j), (Nat.leb_spec j (k + d)); simpl; try lia.
    specialize (H j ltac:(lia)). lia.
Qed.

Lemma detour_keeps : forall s choose t d k s' i,
  invariant p q s -> valid_policy choose -> detour p q choose s t d k = Some (s', i) ->
  (forall j, k < j <= k + d -> (1 <= slack p q s j)%Z) -> invariant p q s'.
Proof.
  intros s choose t d k s' i I Hc. unfold detour.
  destruct (legalb p q s t k && (k + d <=? top p)) eqn:B; [| discriminate].
  apply andb_true_iff in B as (L & B). apply Nat.leb_le in B.
  destruct (free s (k + d)) as [| x r] eqn:Fr; [discriminate |]. intros G Hj; injection G; intros G'.
  assert (Hne : free s (k + d) <> []) by (rewrite Fr; discriminate).
  exact (grant_invariant p Hwf q Hts s choose t k d s' i Hc I L B Hne Hj G').
Qed.

Lemma reachable_invariant : feasible_start p q ->
  forall s, reachable p q s -> invariant p q s.
Proof.
  intros F s R; induction R as [| s choose t k s' i R IH Hc A | s merge t c s' R IH E
                               | s choose t d k s' i R IH Hc Hj E].
  - now apply initial_invariant.
  - exact (allocate_invariant p Hwf q Hts _ _ _ _ _ _ Hc IH A).
  - exact (release_invariant p Hwf q _ _ _ _ _ IH E).
  - exact (detour_keeps _ _ _ _ _ _ _ IH Hc E Hj).
Qed.

(** The cell handed out was free, all of it. *)
Lemma grant_was_free : forall s choose t k d s' i,
  valid_policy choose -> k + d <= top p -> free s (k + d) <> [] ->
  grant p choose s t d k = (s', i) -> incl (gpus p (k, i)) (gpus_of p (free_cells p s)).
Proof.
  intros s choose t k d s' i Hc Hkd Hne G g Hg. unfold grant in G.
  destruct (take p choose d k (free s)) as (x, fr) eqn:T. inversion G; subst.
  assert (E := take_sum p Hwf choose Hc _ (covers_additive g) _ _ _ _ _ Hkd Hne T).
  rewrite fsum_free_cells, <- count_gpus_of in E. unfold covers at 1 in E.
  apply (count_occ_In Nat.eq_dec) in Hg. apply (count_occ_In Nat.eq_dec). lia.
Qed.

Lemma free_disjoint : forall s,
  Permutation (gpus_of p (free_cells p s ++ map snd (held s))) (all_gpus p) ->
  NoDup (gpus_of p (free_cells p s)).
Proof.
  intros s P. assert (ND : NoDup (all_gpus p)) by apply seq_NoDup.
  apply (Permutation_NoDup (Permutation_sym P)) in ND.
  rewrite (NoDup_count_occ Nat.eq_dec) in *. intros g. specialize (ND g).
  rewrite count_gpus_of in *. rewrite wsum_app in ND. lia.
Qed.

End WithChain.
