(** Theorem 1 of HiveD on the allocator of [Cells.v].

    Two invariants carry everything.  (1) For any weight of cells that is
    additive over splitting, the weight of free and held cells together never
    changes; with the weight "how often is GPU g in the cell" this says that
    free and held cells partition the GPUs.  (2) The slack S_k never falls
    below 0: an operation between levels k and k + d changes S_j by exactly
    one for k < j <= k + d and leaves every other level alone. *)

From Coq Require Import Arith List Lia Bool ZArith Permutation.
From Proofs Require Import Cells.
Import ListNotations.

(** Where [j] lies decides all the tests at once. *)
Ltac decide_tests := repeat match goal with
  | |- context [(?a <=? ?b)%nat] =>
      first [rewrite (proj2 (Nat.leb_le a b)) by lia | rewrite (proj2 (Nat.leb_gt a b)) by lia]
  | |- context [(?a <? ?b)%nat] =>
      first [rewrite (proj2 (Nat.ltb_lt a b)) by lia | rewrite (proj2 (Nat.ltb_ge a b)) by lia]
  | |- context [(?a =? ?b)%nat] =>
      first [rewrite (proj2 (Nat.eqb_eq a b)) by lia | rewrite (proj2 (Nat.eqb_neq a b)) by lia]
  end; cbn [andb].
Ltac regions k d j :=
  let R := fresh in
  assert (R : (j < k \/ (j = k /\ d = 0) \/ (j = k /\ 0 < d) \/ k < j < k + d
               \/ (j = k + d /\ 0 < d) \/ k + d < j)%nat) by lia;
  destruct R as [R | [R | [R | [R | [R | R]]]]]; decide_tests; lia.

(** ** Lists *)

Lemma remove1_perm : forall (A : Type) (eqb : A -> A -> bool),
  (forall x y, eqb x y = true <-> x = y) ->
  forall x l, In x l -> Permutation l (x :: remove1 eqb x l).
Proof.
  intros A eqb H x l; induction l as [| y l IH]; simpl; [tauto |].
  intros [-> | Hin].
  - assert (eqb x x = true) as -> by (apply H; reflexivity). apply Permutation_refl.
  - destruct (eqb x y) eqn:E; [apply H in E; subst; apply Permutation_refl |].
    etransitivity; [apply perm_skip, IH, Hin | apply perm_swap].
Qed.

Lemma remove1_perm_nat : forall x l, In x l -> Permutation l (x :: remove1 Nat.eqb x l).
Proof. apply remove1_perm; intros; apply Nat.eqb_eq. Qed.

Lemma mem_In : forall (A : Type) (eqb : A -> A -> bool),
  (forall x y, eqb x y = true <-> x = y) ->
  forall x l, mem eqb x l = true <-> In x l.
Proof.
  intros A eqb H x l. unfold mem. rewrite existsb_exists. split.
  - intros (y & Hy & E). apply H in E. now subst.
  - intros Hin. exists x. split; [assumption | now apply H].
Qed.

Lemma held_eqb_eq : forall x y, held_eqb x y = true <-> x = y.
Proof.
  intros (t & k & i) (t' & k' & i'). unfold held_eqb; simpl.
  rewrite !andb_true_iff, !Nat.eqb_eq. split.
  - intros ((-> & ->) & ->). reflexivity.
  - intros E; inversion E; subst; auto.
Qed.

Lemma remove1_NoDup : forall x l, NoDup l -> NoDup (remove1 Nat.eqb x l).
Proof.
  intros x l H. destruct (in_dec Nat.eq_dec x l) as [Hin | Hout].
  - apply remove1_perm_nat in Hin. apply (Permutation_NoDup Hin) in H. now inversion H.
  - replace (remove1 Nat.eqb x l) with l; [assumption |]. clear H.
    induction l as [| y l IH]; simpl; [reflexivity |].
    destruct (x =? y) eqn:E; [apply Nat.eqb_eq in E; subst; simpl in Hout; tauto |].
    rewrite <- IH; [reflexivity | intros C; apply Hout; now right].
Qed.

Lemma remove1_keeps : forall x y l, x <> y -> In y l -> In y (remove1 Nat.eqb x l).
Proof.
  intros x y l N; induction l as [| z l IH]; simpl; [tauto |].
  destruct (x =? z) eqn:E; [apply Nat.eqb_eq in E; subst; intuition; congruence |].
  simpl; intuition.
Qed.

Lemma remove_all_perm : forall bs l, NoDup bs -> (forall b, In b bs -> In b l) ->
  Permutation l (bs ++ fold_right (remove1 Nat.eqb) l bs).
Proof.
  induction bs as [| b bs IH]; simpl; intros l ND Hin; [apply Permutation_refl |].
  inversion ND as [| ? ? Hb Hbs]; subst.
  assert (HIH := IH l Hbs (fun c H => Hin c (or_intror H))).
  etransitivity; [apply HIH |].
  assert (Hin' : In b (fold_right (remove1 Nat.eqb) l bs)).
  { specialize (Hin b (or_introl eq_refl)).
    apply (Permutation_in _ HIH), in_app_or in Hin. tauto. }
  apply remove1_perm_nat in Hin'.
  etransitivity; [apply Permutation_app_head, Hin' |].
  apply Permutation_sym, Permutation_middle.
Qed.

(** ** Sums over cells *)

Definition wsum {A} (phi : A -> nat) (l : list A) : nat := sum_nat (map phi l).

Lemma wsum_app : forall A (phi : A -> nat) l m, wsum phi (l ++ m) = wsum phi l + wsum phi m.
Proof.
  intros. unfold wsum. rewrite map_app. induction l; simpl in *; [reflexivity |].
  rewrite IHl. apply Nat.add_assoc.
Qed.

Lemma wsum_cons : forall A (phi : A -> nat) x l, wsum phi (x :: l) = phi x + wsum phi l.
Proof. reflexivity. Qed.

Lemma wsum_perm : forall A (phi : A -> nat) l m, Permutation l m -> wsum phi l = wsum phi m.
Proof. intros A phi l m H. unfold wsum. induction H; simpl in *; lia. Qed.

Lemma wsum_map : forall A B (phi : B -> nat) (g : A -> B) l,
  wsum phi (map g l) = wsum (fun x => phi (g x)) l.
Proof. intros. unfold wsum. now rewrite map_map. Qed.

Lemma wsum_flat_map : forall A B (phi : B -> nat) (g : A -> list B) l,
  wsum phi (flat_map g l) = wsum (fun x => wsum phi (g x)) l.
Proof.
  induction l as [| x l IH]; [reflexivity |].
  simpl flat_map. rewrite wsum_app, wsum_cons. now rewrite IH.
Qed.

Lemma wsum_ext : forall A (phi psi : A -> nat) l,
  (forall x, In x l -> phi x = psi x) -> wsum phi l = wsum psi l.
Proof.
  intros A phi psi l; induction l as [| x l IH]; intros H; [reflexivity |].
  rewrite !wsum_cons, IH, H; intuition.
Qed.

Section WithChain.
Variable p : chain.
Hypothesis Hwf : wf p.

(** Replacing the free list of one level changes a sum by the difference. *)
Definition fsum (phi : cell -> nat) (fr : nat -> list nat) : nat :=
  wsum (fun k => wsum (fun i => phi (k, i)) (fr k)) (seq 0 (S (top p))).

Lemma fsum_upd : forall phi fr k v, k <= top p ->
  fsum phi (upd fr k v) + wsum (fun i => phi (k, i)) (fr k)
  = fsum phi fr + wsum (fun i => phi (k, i)) v.
Proof.
  intros phi fr k v Hk. unfold fsum.
  replace (S (top p)) with (k + S (top p - k)) by lia.
  rewrite seq_app, !wsum_app. simpl (0 + k). cbn [seq]. rewrite !wsum_cons.
  assert (E : forall l, ~ In k l ->
    wsum (fun j => wsum (fun i => phi (j, i)) (upd fr k v j)) l
    = wsum (fun j => wsum (fun i => phi (j, i)) (fr j)) l).
  { intros l Hl. apply wsum_ext. intros j Hj. unfold upd.
    destruct (j =? k) eqn:B; [apply Nat.eqb_eq in B; subst; contradiction | reflexivity]. }
  rewrite !E by (rewrite in_seq; lia).
  unfold upd at 1. rewrite Nat.eqb_refl. lia.
Qed.

Definition additive (phi : cell -> nat) : Prop :=
  forall k i, k < top p -> phi (S k, i) = wsum (fun c => phi (k, c)) (children p k i).

Lemma upd_same : forall A (f : nat -> A) k v, upd f k v k = v.
Proof. intros. unfold upd. now rewrite Nat.eqb_refl. Qed.

Lemma upd_other : forall A (f : nat -> A) k v j, j <> k -> upd f k v j = f j.
Proof. intros. unfold upd. apply Nat.eqb_neq in H. now rewrite H. Qed.

Lemma children_nonempty : forall k i, k < top p -> children p k i <> [].
Proof.
  intros k i Hk. unfold children. specialize (Hwf k Hk).
  destruct (factor p k); [lia | discriminate].
Qed.

(** ** Allocation *)

Variable choose : policy.
Hypothesis Hchoose : valid_policy choose.

Lemma take_sum : forall phi, additive phi -> forall d k fr i fr',
  k + d <= top p -> fr (k + d) <> [] -> take p choose d k fr = (i, fr') ->
  fsum phi fr = phi (k, i) + fsum phi fr'.
Proof.
  intros phi Hadd d; induction d as [| d IH]; intros k fr i fr' Hkd Hne; simpl.
  - intros E; inversion E; subst; clear E. rewrite Nat.add_0_r in *.
    assert (H := Hchoose k _ Hne).
    apply remove1_perm_nat, (wsum_perm _ (fun x => phi (k, x))) in H. rewrite wsum_cons in H.
    assert (U := fsum_upd phi fr k (remove1 Nat.eqb (choose k (fr k)) (fr k)) Hkd). lia.
  - destruct (take p choose d (S k) fr) as (j, fr1) eqn:T.
    intros E; inversion E; subst; clear E.
    replace (k + S d) with (S k + d) in * by lia.
    apply IH in T; [| lia | assumption]. rewrite T, (Hadd k j) by lia.
    assert (H := Hchoose k _ (children_nonempty k j ltac:(lia))).
    apply remove1_perm_nat, (wsum_perm _ (fun x => phi (k, x))) in H. rewrite wsum_cons in H.
    assert (U := fsum_upd phi fr1 k
      (remove1 Nat.eqb (choose k (children p k j)) (children p k j) ++ fr1 k) ltac:(lia)).
    rewrite wsum_app in U. lia.
Qed.

Lemma remove1_length : forall x l, In x l -> S (length (remove1 Nat.eqb x l)) = length l.
Proof. intros x l H. apply remove1_perm_nat, Permutation_length in H. simpl in H. lia. Qed.

Definition len (fr : nat -> list nat) (j : nat) : Z := Z.of_nat (length (fr j)).

(** What an operation between levels [k] and [k + d] does to the free counts;
    [take] by [shift], [give] by its opposite. *)
Definition shift (k d j : nat) : Z :=
  if (k <=? j) && (j <? k + d) then Z.of_nat (factor p j) - 1
  else if j =? k + d then -1 else 0.

Ltac bdestruct_all := repeat match goal with
  | |- context [?a <=? ?b] => destruct (Nat.leb_spec a b)
  | |- context [?a <? ?b] => destruct (Nat.ltb_spec a b)
  | |- context [?a =? ?b] => destruct (Nat.eqb_spec a b)
  | H : context [?a <=? ?b] |- _ => destruct (Nat.leb_spec a b)
  | H : context [?a <? ?b] |- _ => destruct (Nat.ltb_spec a b)
  | H : context [?a =? ?b] |- _ => destruct (Nat.eqb_spec a b)
  end; simpl in *.

Lemma take_len : forall d k fr i fr',
  k + d <= top p -> fr (k + d) <> [] -> take p choose d k fr = (i, fr') ->
  forall j, (len fr' j = len fr j + shift k d j)%Z.
Proof.
  intros d; induction d as [| d IH]; intros k fr i fr' Hkd Hne; simpl.
  - intros E; inversion E; subst; clear E. intros j. rewrite Nat.add_0_r in *.
    unfold len, shift. rewrite Nat.add_0_r.
    destruct (Nat.eq_dec j k) as [-> | N].
    + rewrite upd_same. assert (H := remove1_length _ _ (Hchoose k _ Hne)).
      bdestruct_all; lia.
    + rewrite upd_other by assumption. bdestruct_all; lia.
  - destruct (take p choose d (S k) fr) as (x, fr1) eqn:T.
    intros E; inversion E; subst; clear E. intros j.
    replace (k + S d) with (S k + d) in * by lia.
    assert (IHj := IH (S k) fr x fr1 ltac:(lia) Hne T j). clear IH.
    unfold shift in *. unfold len in *. destruct (Nat.eq_dec j k) as [-> | N].
    + rewrite upd_same, app_length.
      assert (H := remove1_length _ _ (Hchoose k _ (children_nonempty k x ltac:(lia)))).
      unfold children in H at 3. rewrite seq_length in H.
      revert IHj. decide_tests. lia.
    + rewrite upd_other by assumption. revert IHj. regions (S k) d j.
Qed.

(** ** Release *)

Lemma give_cases : forall merge d k i fr, k + d <= top p ->
  exists m, m <= d /\
    (forall j, (len (give p merge d k i fr) j = len fr j - shift k m j)%Z) /\
    forall phi, additive phi -> fsum phi (give p merge d k i fr) = phi (k, i) + fsum phi fr.
Proof.
  intros merge d; induction d as [| d IH]; intros k i fr Hk.
  - exists 0. simpl. repeat split; [lia | |].
    + intros j. unfold len, shift, upd. bdestruct_all; subst; simpl; lia.
    + intros phi _. assert (U := fsum_upd phi fr k (i :: fr k) ltac:(lia)).
      rewrite wsum_cons in U. lia.
  - simpl. set (par := i / factor p k). set (bs := remove1 Nat.eqb i (children p k par)).
    destruct (merge k && forallb (fun b => mem_free b (fr k)) bs) eqn:E.
    + apply andb_true_iff in E as (_ & E). rewrite forallb_forall in E.
      assert (Hin : forall b, In b bs -> In b (fr k)).
      { intros b Hb. apply E in Hb. apply mem_In in Hb; [assumption | intros; apply Nat.eqb_eq]. }
      assert (Hf := Hwf k ltac:(lia)).
      assert (Hi : In i (children p k par)).
      { unfold children, par. apply in_seq.
        assert (Hd := Nat.div_mod i (factor p k) ltac:(lia)).
        assert (Hr := Nat.mod_upper_bound i (factor p k) ltac:(lia)). lia. }
      assert (Pk := remove1_perm_nat _ _ Hi). fold bs in Pk.
      assert (ND : NoDup bs) by (apply remove1_NoDup, seq_NoDup).
      assert (Pf := remove_all_perm bs (fr k) ND Hin).
      set (fr1 := upd fr k (fold_right (remove1 Nat.eqb) (fr k) bs)) in *.
      destruct (IH (S k) par fr1 ltac:(lia)) as (m & Hm & Hlen & Hsum).
      exists (S m). repeat split; [lia | |].
      * intros j. rewrite Hlen. unfold len, shift.
        assert (L1 := Permutation_length Pf). rewrite app_length in L1.
        assert (L2 := Permutation_length Pk). unfold children in L2 at 1.
        rewrite seq_length in L2. simpl in L2.
        unfold fr1. destruct (Nat.eq_dec j k) as [-> | N].
        -- rewrite upd_same. decide_tests. lia.
        -- rewrite upd_other by assumption. regions (S k) m j.
      * intros phi Hadd. rewrite Hsum by assumption.
        assert (U := fsum_upd phi fr k (fold_right (remove1 Nat.eqb) (fr k) bs) ltac:(lia)).
        fold fr1 in U. rewrite (Hadd k par) by lia.
        apply (wsum_perm _ (fun x => phi (k, x))) in Pf, Pk.
        rewrite wsum_app in Pf. rewrite wsum_cons in Pk. lia.
    + exists 0. repeat split; [lia | |].
      * intros j. unfold len, shift, upd. bdestruct_all; subst; simpl; lia.
      * intros phi _. assert (U := fsum_upd phi fr k (i :: fr k) ltac:(lia)).
        rewrite wsum_cons in U. lia.
Qed.

End WithChain.

(** ** The slack *)

Local Open Scope Z_scope.

Section Slack.
Variable p : chain.
Hypothesis Hwf : wf p.

(** Slack for any free and owed counts. *)
Definition sl (f o : nat -> Z) (k : nat) : Z :=
  f k + splittable_from p f o (top p - k) k - o k.

Lemma sl_step : forall f o k, (k < top p)%nat ->
  sl f o k = f k - o k + Z.of_nat (factor p k) * sl f o (S k).
Proof.
  intros f o k Hk. unfold sl.
  replace (top p - k)%nat with (S (top p - S k)) by lia. simpl. lia.
Qed.

Lemma sl_top : forall f o, sl f o (top p) = f (top p) - o (top p).
Proof. intros. unfold sl. rewrite Nat.sub_diag. simpl. lia. Qed.

(** Induction from the top level down. *)
Lemma down_ind : forall (n : nat) (P : nat -> Prop),
  P n -> (forall k, (k < n)%nat -> P (S k) -> P k) -> forall k, (k <= n)%nat -> P k.
Proof.
  intros n P Hn Hs k Hk. replace k with (n - (n - k))%nat by lia.
  assert (H : (n - k <= n)%nat) by lia. revert H.
  induction (n - k)%nat as [| d IH]; intros H.
  - now rewrite Nat.sub_0_r.
  - apply Hs; [lia |]. replace (S (n - S d)) with (n - d)%nat by lia. apply IH; lia.
Qed.

Definition between (k d j : nat) : Z :=
  if ((k <? j) && (j <=? k + d))%nat then 1 else 0.

(** The heart of Theorem 1: splitting from level [k + d] to serve level [k]
    costs exactly one unit of slack at the levels in between. *)
Lemma sl_shift : forall f o f' o' k d, (k + d <= top p)%nat ->
  (forall j, (j <= top p)%nat ->
     f' j - o' j = f j - o j + shift p k d j + (if (j =? k)%nat then 1 else 0)) ->
  forall j, (j <= top p)%nat -> sl f' o' j = sl f o j - between k d j.
Proof.
  intros f o f' o' k d Hkd H. apply down_ind.
  - rewrite !sl_top. specialize (H (top p) (le_n _)).
    unfold between, shift in *. revert H. regions k d (top p).
  - intros j Hj IH. rewrite (sl_step f' o' j), (sl_step f o j) by assumption. rewrite IH.
    specialize (H j ltac:(lia)). unfold between, shift in *. revert H. regions k d j.
Qed.

(** If something is owed at [k] and no slack is negative, a cell is found, and
    the levels below it have slack to spare. *)
Lemma find_some : forall (fr : nat -> list nat) o d k,
  (k + d = top p)%nat -> (forall j, (j <= top p)%nat -> 0 <= o j) ->
  0 < o k + sl (len fr) o k ->
  exists e, find d k fr = Some e /\ (e <= d)%nat /\ fr (k + e)%nat <> [] /\
    forall j, (k < j <= k + e)%nat -> 1 <= sl (len fr) o j.
Proof.
  intros fr o d; induction d as [| d IH]; intros k Hkd Ho Hpos.
  - replace k with (top p) in * by lia. rewrite sl_top in Hpos.
    exists 0%nat. simpl. rewrite Nat.add_0_r. unfold len in Hpos.
    destruct (fr (top p)); simpl in Hpos; [lia |].
    repeat split; [lia | discriminate | lia].
  - simpl. destruct (fr k) eqn:E.
    + assert (Z0 : len fr k = 0) by (unfold len; now rewrite E).
      rewrite sl_step in Hpos by lia.
      assert (Hs : 1 <= sl (len fr) o (S k)).
      { specialize (Ho k ltac:(lia)). nia. }
      destruct (IH (S k)) as (e & -> & He & Hne & Hj); [lia | assumption | |].
      { specialize (Ho (S k) ltac:(lia)). lia. }
      exists (S e). simpl. replace (k + S e)%nat with (S k + e)%nat by lia.
      repeat split; [lia | assumption |].
      intros j Hjj. destruct (Nat.eq_dec j (S k)) as [-> | N]; [assumption | apply Hj; lia].
    + exists 0%nat. rewrite Nat.add_0_r, E. repeat split; [lia | discriminate | lia].
Qed.

End Slack.

(** ** Quotas *)

Lemma holds_cons : forall fr h t k i u j,
  Z.of_nat (holds {| free := fr; held := (t, (k, i)) :: h |} u j)
  = (if ((t =? u) && (k =? j))%nat then 1 else 0)
    + Z.of_nat (length (filter (fun e => ((fst e =? u) && (fst (snd e) =? j))%nat) h)).
Proof.
  intros. unfold holds. simpl. destruct ((t =? u) && (k =? j))%nat; simpl length; lia.
Qed.

Lemma allocated_cons : forall fr h t k i j,
  allocated {| free := fr; held := (t, (k, i)) :: h |} j
  = (if (k =? j)%nat then 1 else 0)
    + Z.of_nat (length (filter (fun e => (fst (snd e) =? j)%nat) h)).
Proof. intros. unfold allocated. simpl. destruct (k =? j)%nat; simpl length; lia. Qed.

Lemma filter_length_perm : forall A (g : A -> bool) l m,
  Permutation l m -> length (filter g l) = length (filter g m).
Proof.
  intros A g l m H. induction H; simpl; try congruence;
  repeat match goal with |- context [g ?a] => destruct (g a) end; simpl; congruence.
Qed.

(** What all tenants hold together is the sum of what each holds. *)
Lemma holds_sum : forall ts h k, NoDup ts -> (forall e, In e h -> In (fst e) ts) ->
  length (filter (fun e : nat * (nat * nat) => (fst (snd e) =? k)%nat) h)
  = wsum (fun t => length (filter (fun e => ((fst e =? t) && (fst (snd e) =? k))%nat) h)) ts.
Proof.
  intros ts h k ND; induction h as [| (t & k' & i) h IH]; intros Hin.
  - simpl. clear. unfold wsum. induction ts; simpl; auto.
  - rewrite (wsum_ext _ _ (fun u => (if (u =? t)%nat && (k' =? k)%nat then 1%nat else 0%nat)
      + length (filter (fun e => ((fst e =? u) && (fst (snd e) =? k))%nat) h))%nat).
    2:{ intros u _. simpl. rewrite (Nat.eqb_sym t u).
        destruct ((u =? t) && (k' =? k))%nat; reflexivity. }
    assert (Ht : In t ts) by (apply (Hin (t, (k', i))); now left).
    specialize (IH (fun e H => Hin e (or_intror H))). clear Hin.
    assert (A : forall a b us, wsum (fun u : nat => (a u + b u)%nat) us
                               = (wsum a us + wsum b us)%nat).
    { intros a b us. unfold wsum. induction us; simpl; lia. }
    rewrite A, <- IH. simpl.
    assert (C : wsum (fun u => if ((u =? t) && (k' =? k))%nat then 1%nat else 0%nat) ts
                = if (k' =? k)%nat then 1%nat else 0%nat).
    { destruct (k' =? k)%nat.
      - clear - ND Ht. induction ts as [| u ts IH]; [contradiction |].
        inversion ND; subst. rewrite wsum_cons. rewrite andb_true_r.
        destruct (Nat.eqb_spec u t) as [-> | N].
        + rewrite (wsum_ext _ _ (fun _ => 0%nat)).
          * clear. unfold wsum. induction ts; simpl in *; lia.
          * intros u Hu. destruct (Nat.eqb_spec u t); [subst; contradiction | reflexivity].
        + rewrite IH; [reflexivity | assumption | destruct Ht; [congruence | assumption]].
      - clear. unfold wsum. induction ts; simpl; [reflexivity |].
        rewrite andb_false_r. simpl. assumption. }
    rewrite C. destruct (k' =? k)%nat; reflexivity.
Qed.

Lemma wsum_lt : forall (a b : nat -> nat) ts t,
  (forall u, In u ts -> (a u <= b u)%nat) -> In t ts -> (a t < b t)%nat ->
  (wsum a ts < wsum b ts)%nat.
Proof.
  intros a b ts t; induction ts as [| u ts IH]; intros Hle Hin Hlt; [contradiction |].
  rewrite !wsum_cons.
  assert (Hu := Hle u (or_introl eq_refl)).
  assert (Hts : (wsum a ts <= wsum b ts)%nat).
  { clear - Hle. induction ts as [| v ts IH]; [reflexivity |]. rewrite !wsum_cons.
    assert (Hv := Hle v (or_intror (or_introl eq_refl))).
    assert (wsum a ts <= wsum b ts)%nat; [apply IH; intros w [-> | Hw] |]; [| | lia].
    - apply Hle. now left. - apply Hle. right. now right. }
  destruct Hin as [-> | Hin]; [lia |].
  specialize (IH (fun v H => Hle v (or_intror H)) Hin Hlt). lia.
Qed.

(** ** The invariant *)

Section Invariant.
Variable p : chain.
Hypothesis Hwf : wf p.
Variable q : reservation.
Hypothesis Hts : NoDup (tenants q).

(** Total weight of free and held cells. *)
Definition weight (phi : cell -> nat) (s : state) : nat :=
  (fsum p phi (free s) + wsum (fun e => phi (snd e)) (held s))%nat.

Record invariant (s : state) : Prop := {
  inv_weight : forall phi, additive p phi -> weight phi s = weight phi (initial p);
  inv_level : forall e, In e (held s) -> (fst (snd e) <= top p)%nat;
  inv_tenant : forall e, In e (held s) -> In (fst e) (tenants q);
  inv_quota : forall t k, In t (tenants q) -> (holds s t k <= quota q t k)%nat;
  inv_slack : forall k, (k <= top p)%nat -> 0 <= slack p q s k }.

Lemma slack_sl : forall s k, slack p q s k = sl p (nfree s) (owed q s) k.
Proof. reflexivity. Qed.

Lemma owed_nonneg : forall s k,
  (forall e, In e (held s) -> In (fst e) (tenants q)) ->
  (forall t, In t (tenants q) -> (holds s t k <= quota q t k)%nat) -> 0 <= owed q s k.
Proof.
  intros s k Ht Hq. unfold owed, reserved, allocated.
  rewrite (holds_sum (tenants q)) by assumption.
  fold (wsum (fun t => quota q t k) (tenants q)).
  assert (forall ts, (forall t, In t ts -> In t (tenants q)) ->
    wsum (fun t => holds s t k) ts <= wsum (fun t => quota q t k) ts)%nat.
  { induction ts as [| t ts IH]; intros H; [reflexivity |]. rewrite !wsum_cons.
    specialize (Hq t (H t (or_introl eq_refl))).
    specialize (IH (fun u Hu => H u (or_intror Hu))). lia. }
  specialize (H (tenants q) (fun t Ht => Ht)). unfold holds in H. lia.
Qed.

Lemma legal_owed : forall s t k, invariant s -> legalb p q s t k = true ->
  1 <= owed q s k /\ (k <= top p)%nat /\ In t (tenants q) /\ (holds s t k < quota q t k)%nat.
Proof.
  intros s t k I L. unfold legalb in L. rewrite !andb_true_iff in L.
  destruct L as ((L1 & L2) & L3). apply Nat.leb_le in L2. apply Nat.ltb_lt in L3.
  apply mem_In in L1; [| intros; apply Nat.eqb_eq].
  split; [| now repeat split].
  unfold owed, reserved, allocated. rewrite (holds_sum (tenants q) _ k Hts (inv_tenant s I)).
  fold (wsum (fun t => quota q t k) (tenants q)).
  assert (H := wsum_lt (fun t => holds s t k) (fun t => quota q t k) (tenants q) t
    (fun u Hu => inv_quota s I u k Hu) L1 L3).
  unfold holds in H. lia.
Qed.

(** Serving a legal request from level [k + d]: everything but the slack. *)
Lemma grant_effect : forall s choose t k d s' i,
  valid_policy choose -> (forall phi, additive p phi -> weight phi s = weight phi (initial p)) ->
  (k + d <= top p)%nat -> free s (k + d)%nat <> [] -> grant p choose s t d k = (s', i) ->
  held s' = (t, (k, i)) :: held s /\
  (forall phi, additive p phi -> weight phi s' = weight phi (initial p)) /\
  (forall j, (j <= top p)%nat -> slack p q s' j = slack p q s j - between k d j).
Proof.
  intros s choose t k d s' i Hc Hw Hkd Hne. unfold grant.
  destruct (take p choose d k (free s)) as (x, fr) eqn:T.
  intros E; inversion E; subst; clear E. repeat split.
  - intros phi Hadd. rewrite <- Hw by assumption. unfold weight. simpl free. simpl held.
    rewrite wsum_cons. simpl snd.
    rewrite (take_sum p Hwf choose Hc phi Hadd _ _ _ _ _ Hkd Hne T). lia.
  - intros j Hj. rewrite !slack_sl. apply sl_shift; [assumption | | assumption].
    intros m Hm. assert (L := take_len p Hwf choose Hc _ _ _ _ _ Hkd Hne T m).
    unfold nfree, owed. simpl free. rewrite allocated_cons. fold (allocated s m).
    unfold len in L. rewrite L, (Nat.eqb_sym k m). destruct (m =? k)%nat; lia.
Qed.

Lemma grant_invariant : forall s choose t k d s' i,
  valid_policy choose -> invariant s -> legalb p q s t k = true ->
  (k + d <= top p)%nat -> free s (k + d)%nat <> [] ->
  (forall j, (k < j <= k + d)%nat -> 1 <= slack p q s j) ->
  grant p choose s t d k = (s', i) -> invariant s'.
Proof.
  intros s choose t k d s' i Hc I L Hkd Hne Hj G.
  destruct (legal_owed _ _ _ I L) as (_ & Hk & Ht & Hq).
  destruct (grant_effect _ _ _ _ _ _ _ Hc (inv_weight s I) Hkd Hne G) as (Hh & Hw & Hs).
  split.
  - assumption.
  - intros e. rewrite Hh. intros [<- | H]; [assumption | now apply (inv_level s I)].
  - intros e. rewrite Hh. intros [<- | H]; [assumption | now apply (inv_tenant s I)].
  - intros u j Hu. destruct s' as [fr h]; simpl in Hh; subst h.
    apply Nat2Z.inj_le. rewrite holds_cons. fold (holds s u j).
    assert (Hu' := inv_quota s I u j Hu).
    destruct (Nat.eqb_spec t u), (Nat.eqb_spec k j); subst; cbn [andb]; lia.
  - intros j Hjt. rewrite Hs by assumption. assert (S0 := inv_slack s I j Hjt).
    unfold between. destruct (Nat.ltb_spec k j), (Nat.leb_spec j (k + d)); simpl; try lia.
    specialize (Hj j ltac:(lia)). lia.
Qed.

(** Every legal request finds a cell, and may take it. *)
Lemma legal_found : forall s t k, invariant s -> legalb p q s t k = true ->
  exists d, find (top p - k) k (free s) = Some d /\ (k + d <= top p)%nat /\
    free s (k + d)%nat <> [] /\ forall j, (k < j <= k + d)%nat -> 1 <= slack p q s j.
Proof.
  intros s t k I L. destruct (legal_owed _ _ _ I L) as (Ho & Hk & _).
  destruct (find_some p (free s) (owed q s) (top p - k) k) as (e & He & Hle & Hne & Hj).
  - lia.
  - intros j _. apply owed_nonneg; [apply (inv_tenant s I) | intros; now apply (inv_quota s I)].
  - assert (H := inv_slack s I k Hk). rewrite slack_sl in H. unfold nfree in H.
    unfold len. lia.
  - exists e. repeat split; [assumption | lia | assumption |].
    intros j Hjj. rewrite slack_sl. now apply Hj.
Qed.

Lemma allocate_invariant : forall s choose t k s' i,
  valid_policy choose -> invariant s ->
  allocate p q choose s t k = Some (s', i) -> invariant s'.
Proof.
  intros s choose t k s' i Hc I. unfold allocate.
  destruct (legalb p q s t k) eqn:L; [| discriminate].
  destruct (legal_found _ _ _ I L) as (d & -> & Hkd & Hne & Hj).
  intros E. apply (grant_invariant s choose t k d s' i); try assumption. congruence.
Qed.

Lemma release_invariant : forall s merge t c s',
  invariant s -> release p merge s t c = Some s' -> invariant s'.
Proof.
  intros s merge t (k & i) s' I. unfold release. simpl fst; simpl snd.
  destruct (mem held_eqb (t, (k, i)) (held s)) eqn:M; [| discriminate].
  intros E. assert (E1 := f_equal (fun x => match x with Some y => y | None => s end) E). simpl in E1. subst s'. clear E.
  apply mem_In in M; [| apply held_eqb_eq].
  assert (Hk := inv_level s I _ M). simpl in Hk.
  assert (P := remove1_perm _ _ held_eqb_eq _ _ M).
  set (h := remove1 held_eqb (t, (k, i)) (held s)) in *.
  destruct (give_cases p Hwf merge (top p - k) k i (free s) ltac:(lia)) as (m & Hm & Hl & Hw).
  assert (Hsub : forall e, In e h -> In e (held s)).
  { intros e He. apply (Permutation_in _ (Permutation_sym P)). now right. }
  split; simpl held.
  - intros phi Hadd. rewrite <- (inv_weight s I phi Hadd). unfold weight. simpl.
    rewrite (wsum_perm _ _ _ _ P), wsum_cons, Hw by assumption. simpl. lia.
  - intros e He. apply (inv_level s I), Hsub, He.
  - intros e He. apply (inv_tenant s I), Hsub, He.
  - intros u j Hu. assert (H := inv_quota s I u j Hu). unfold holds in *. simpl.
    rewrite (filter_length_perm _ _ _ _ P) in H. simpl in H.
    destruct ((t =? u) && (k =? j))%nat; simpl in H; lia.
  - intros j Hj.
    set (s' := {| free := give p merge (top p - k) k i (free s); held := h |}).
    (* Taking the cell again would undo this release: apply [sl_shift] backwards. *)
    assert (B : sl p (nfree s) (owed q s) j = sl p (nfree s') (owed q s') j - between k m j).
    { apply sl_shift; [lia | | assumption]. intros x Hx.
      unfold nfree, owed, allocated. simpl. rewrite (filter_length_perm _ _ _ _ P). simpl.
      specialize (Hl x). unfold len in Hl. rewrite Hl, (Nat.eqb_sym x k).
      destruct (k =? x)%nat; simpl length; lia. }
    assert (S0 := inv_slack s I j Hj). rewrite slack_sl in *.
    unfold between in B. destruct ((k <? j) && (j <=? k + m))%nat; lia.
Qed.

End Invariant.
