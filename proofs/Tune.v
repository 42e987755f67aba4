(** Synergy-TUNE: every step keeps every job at or above its fair throughput,
    and the fallback to GPU-proportional shares always fits.

    One group of identical servers of [gpus_each] GPUs; a server has
    [gpus_each * per_gpu r] of resource [r], so the fair share of a job is
    [per_gpu r] for each of its GPUs.  Amounts are natural numbers on a common
    denominator, as in the code.  A job's pieces take CPU and memory in
    proportion to their GPUs, so demands are given for one GPU. *)

From Coq Require Import Arith List Lia Bool Permutation.
Import ListNotations.

Section Tune.

(** Any finite number of resources. *)
Variable Resource : Type.
Variable resources : list Resource.
Hypothesis every_resource : forall r, In r resources.
Variable per_gpu : Resource -> nat.
Variable gpus_each : nat.

Definition vector := Resource -> nat.
Definition within (a b : vector) : Prop := forall r, a r <= b r.

(** A job: its best-case demand for one GPU, and its measured configurations
    with their throughput. *)
Record job := { demand : vector; grid : list (vector * nat) }.

(** What a job can make of an allotment: the best configuration inside it. *)
Definition reaches (j : job) (v : vector) (w : nat) : Prop :=
  exists c, In (c, w) (grid j) /\ within c v.
Definition at_least (j : job) (v : vector) (w : nat) : Prop :=
  exists w', w <= w' /\ reaches j v w'.

(** Fair throughput: no worse than anything inside the share.  [fair j v] says
    that the allotment [v] is fair to [j]. *)
Definition fair (j : job) (v : vector) : Prop :=
  forall w, reaches j per_gpu w -> at_least j v w.

(** The demand saturates the job: no configuration is better. *)
Definition saturating (j : job) : Prop :=
  forall c w, In (c, w) (grid j) -> at_least j (demand j) w.

(** A placed job holds its demand or its share, the same on all its pieces
    (server, GPUs). *)
Inductive mode := AtDemand | AtShare.
Record placed := { who : job; pieces : list (nat * nat); how : mode }.
Definition allotment (e : placed) : vector :=
  match how e with AtDemand => demand (who e) | AtShare => per_gpu end.

Definition sum (l : list nat) : nat := fold_right Nat.add 0 l.
Definition gpus_on (i : nat) (ps : list (nat * nat)) : nat :=
  sum (map (fun pc => if fst pc =? i then snd pc else 0) ps).
Definition gpus_used (i : nat) (l : list placed) : nat :=
  sum (map (fun e => gpus_on i (pieces e)) l).
Definition used (i : nat) (r : Resource) (l : list placed) : nat :=
  sum (map (fun e => gpus_on i (pieces e) * allotment e r) l).

Definition gpus_fit (l : list placed) : Prop := forall i, gpus_used i l <= gpus_each.
Definition fits (l : list placed) : Prop :=
  gpus_fit l /\ forall i r, used i r l <= gpus_each * per_gpu r.

(** It holds more than its share of some resource. *)
Definition exceeds (e : placed) : Prop := ~ within (allotment e) per_gpu.

Definition to_share (e : placed) : placed :=
  {| who := who e; pieces := pieces e; how := AtShare |}.

(** [switched touched l m]: [m] is [l] with every job that exceeds its share and
    has a piece on a server of [touched] switched to its share, on all its
    servers; the others stay. *)
Definition on_some (touched : nat -> bool) (e : placed) : Prop :=
  exists i, touched i = true /\ 0 < gpus_on i (pieces e).
Definition switched (touched : nat -> bool) : list placed -> list placed -> Prop :=
  Forall2 (fun e e' =>
    (on_some touched e /\ exceeds e /\ e' = to_share e) \/
    ((~ on_some touched e \/ within (allotment e) per_gpu) /\ e' = e)).

(** A set of servers is closed if no job that exceeds its share is partly in it
    and partly outside.  All servers together are closed; so is one server
    without multi-server jobs that exceed. *)
Definition closed (touched : nat -> bool) (l : list placed) : Prop :=
  forall e, In e l -> exceeds e -> on_some touched e ->
  forall i, 0 < gpus_on i (pieces e) -> touched i = true.

(** One switch: some job that exceeds its share goes to its share. *)
Inductive switch : list placed -> list placed -> Prop :=
| switch_one : forall a e b, exceeds e -> switch (a ++ e :: b) (a ++ to_share e :: b).
Inductive switches : list placed -> list placed -> Prop :=
| switched_enough : forall l, switches l l
| switch_more : forall l m n, switch l m -> switches m n -> switches l n.

(** TUNE's steps.  A job enters at its demand where that fits, at its share
    where that fits, and else servers are taken by GPUs alone: the newcomer
    takes its share, or its demand where that is within the share, and jobs that
    exceed their share are switched, in any order, until everything fits. *)
Inductive step : list placed -> list placed -> Prop :=
| enter_at_demand : forall l j ps,
    fits ({| who := j; pieces := ps; how := AtDemand |} :: l) ->
    step l ({| who := j; pieces := ps; how := AtDemand |} :: l)
| enter_at_share : forall l j ps,
    fits ({| who := j; pieces := ps; how := AtShare |} :: l) ->
    step l ({| who := j; pieces := ps; how := AtShare |} :: l)
| fall_back : forall l m e,
    gpus_fit (e :: l) -> within (allotment e) per_gpu ->
    switches (e :: l) m -> fits m -> step l m.

Inductive tuned : list placed -> Prop :=
| tuned_nothing : tuned []
| tuned_step : forall l m, tuned l -> step l m -> tuned m.

(** ** Fairness *)

Lemma reaches_mono : forall j v v' w, within v v' -> reaches j v w -> reaches j v' w.
Proof.
  intros j v v' w H (c & Hc & Hv). exists c. split; [assumption |].
  intros r. specialize (H r). specialize (Hv r). lia.
Qed.

(** The safe rule: at least the share in every resource, or at least the demand
    in every resource. *)
Theorem fair_if_share : forall j v, within per_gpu v -> fair j v.
Proof.
  intros j v H w R. exists w. split; [lia | exact (reaches_mono j per_gpu v w H R)].
Qed.

Theorem fair_if_demand : forall j v, saturating j -> within (demand j) v -> fair j v.
Proof.
  intros j v S H w (c & Hc & _). destruct (S c w Hc) as (w' & Hw & R).
  exists w'. split; [assumption | exact (reaches_mono j _ v w' H R)].
Qed.

Theorem always_fair : forall e, saturating (who e) -> fair (who e) (allotment e).
Proof.
  intros e S. unfold allotment. destruct (how e).
  - apply fair_if_demand; [assumption | intros r; lia].
  - apply fair_if_share. intros r. lia.
Qed.

(** ** Switching all at once *)

Lemma sum_le : forall A (f g : A -> nat) l, (forall x, In x l -> f x <= g x) ->
  sum (map f l) <= sum (map g l).
Proof.
  intros A f g l; induction l as [| x l IH]; intros H; simpl; [lia |].
  assert (Hx := H x (or_introl eq_refl)). specialize (IH (fun y Hy => H y (or_intror Hy))). lia.
Qed.

Lemma sum_scale : forall A (f : A -> nat) c l,
  sum (map (fun x => f x * c) l) = sum (map f l) * c.
Proof. intros A f c l; induction l as [| x l IH]; simpl; [reflexivity |]. rewrite IH. lia. Qed.

(** On a server where nobody exceeds the share, everything fits. *)
Lemma shares_fit : forall i r l, gpus_used i l <= gpus_each ->
  (forall e, In e l -> 0 < gpus_on i (pieces e) -> allotment e r <= per_gpu r) ->
  used i r l <= gpus_each * per_gpu r.
Proof.
  intros i r l G H. apply Nat.le_trans with (gpus_used i l * per_gpu r).
  - unfold used, gpus_used. rewrite <- sum_scale. apply sum_le. intros e He.
    destruct (gpus_on i (pieces e)) as [| n] eqn:E; [lia |].
    apply Nat.mul_le_mono_l, H; [assumption | lia].
  - now apply Nat.mul_le_mono_r.
Qed.

Lemma switched_pieces : forall touched l m, switched touched l m -> map pieces m = map pieces l.
Proof.
  intros touched l m H; induction H as [| e e' l m He H IH]; [reflexivity |]. simpl.
  rewrite IH. destruct He as [(_ & _ & ->) | (_ & ->)]; reflexivity.
Qed.

Lemma gpus_used_pieces : forall i l, gpus_used i l = sum (map (gpus_on i) (map pieces l)).
Proof. intros i l. unfold gpus_used. now rewrite map_map. Qed.

(** Servers outside a closed set do not notice. *)
Lemma untouched_use : forall touched i r l m,
  switched touched l m -> closed touched l -> touched i = false -> used i r m = used i r l.
Proof.
  intros touched i r l m H; induction H as [| e e' l m He H IH]; intros C N; [reflexivity |].
  unfold used in *. simpl. rewrite IH; [| intros x Hx; apply C; now right | assumption].
  destruct He as [(Ht & Hx & ->) | (_ & ->)]; [| reflexivity].
  assert (Hz : gpus_on i (pieces e) = 0).
  { destruct (gpus_on i (pieces e)) as [| n] eqn:E; [reflexivity |]. exfalso.
    rewrite (C e (or_introl eq_refl) Hx Ht i) in N; [discriminate | lia]. }
  simpl. now rewrite Hz.
Qed.

Lemma touched_within : forall touched i l m, touched i = true -> switched touched l m ->
  forall e, In e m -> 0 < gpus_on i (pieces e) -> within (allotment e) per_gpu.
Proof.
  intros touched i l m T H; induction H as [| e e' l m He H IH]; intros x Hx G; [contradiction |].
  destruct Hx as [<- | Hx]; [| now apply IH].
  destruct He as [(_ & _ & ->) | ([N | W] & ->)].
  - intros r. simpl. apply le_n.
  - exfalso. apply N. now exists i.
  - assumption.
Qed.

Theorem switch_all_fits : forall l m e touched,
  fits l -> gpus_fit (e :: l) -> within (allotment e) per_gpu ->
  (forall i, 0 < gpus_on i (pieces e) -> touched i = true) ->
  closed touched l -> switched touched l m -> fits (e :: m).
Proof.
  intros l m e touched (_ & F) G W T C S. assert (P := switched_pieces _ _ _ S).
  assert (G' : gpus_fit (e :: m)).
  { intros i. specialize (G i). rewrite gpus_used_pieces in *. simpl in *. now rewrite P. }
  split; [exact G' |]. intros i r. destruct (touched i) eqn:Ti.
  - apply shares_fit; [apply G' |]. intros x [<- | Hx] Gx; [apply W |].
    exact (touched_within touched i l m Ti S x Hx Gx r).
  - assert (U := untouched_use touched i r l m S C Ti). unfold used in *. simpl.
    replace (gpus_on i (pieces e)) with 0; [simpl; rewrite U; apply F |].
    destruct (gpus_on i (pieces e)) as [| n] eqn:E; [reflexivity |]. exfalso.
    rewrite (T i) in Ti; [discriminate | lia].
Qed.

(** ** Switching one by one *)

Lemma sum_app : forall a b, sum (a ++ b) = sum a + sum b.
Proof. induction a as [| x a IH]; intros b; simpl; [reflexivity |]. rewrite IH. lia. Qed.

(** Where a resource is overdrawn, somebody on that server can give some of it. *)
Theorem overdrawn_has_giver : forall l i r,
  gpus_used i l <= gpus_each -> gpus_each * per_gpu r < used i r l ->
  exists e, In e l /\ 0 < gpus_on i (pieces e) /\ per_gpu r < allotment e r.
Proof.
  intros l i r G U.
  destruct (existsb (fun e => (0 <? gpus_on i (pieces e)) && (per_gpu r <? allotment e r)) l)
    eqn:B.
  - apply existsb_exists in B as (e & He & B). apply andb_true_iff in B as (B1 & B2).
    exists e. split; [assumption |]. split; now apply Nat.ltb_lt.
  - exfalso. apply (Nat.lt_irrefl (used i r l)).
    apply Nat.le_lt_trans with (gpus_each * per_gpu r); [| assumption].
    apply shares_fit; [assumption |]. intros e He Ge.
    apply Nat.nlt_ge. intros L. apply Bool.not_true_iff_false in B. apply B.
    apply existsb_exists. exists e. split; [assumption |].
    apply andb_true_iff. split; now apply Nat.ltb_lt.
Qed.

Definition at_demand (l : list placed) : nat :=
  sum (map (fun e => match how e with AtDemand => 1 | AtShare => 0 end) l).

(** Every switch uses up a job at its demand, so there are at most as many. *)
Theorem switch_counts : forall l m, switch l m -> at_demand l = S (at_demand m).
Proof.
  intros l m H; destruct H as [a e b X]. unfold at_demand.
  rewrite !map_app, !sum_app. simpl. destruct (how e) eqn:E; [lia |].
  exfalso. apply X. intros r. unfold allotment. rewrite E. apply le_n.
Qed.

Lemma switch_keeps : forall l m, switch l m -> map who m = map who l /\ map pieces m = map pieces l.
Proof. intros l m H; destruct H. now rewrite !map_app. Qed.

Theorem switches_keep : forall l m, switches l m ->
  map who m = map who l /\ map pieces m = map pieces l.
Proof.
  intros l m H; induction H as [| l m n H S IH]; [now split |].
  apply switch_keeps in H. destruct H as (<- & <-). exact IH.
Qed.

Lemma gpus_fit_pieces : forall l m, map pieces m = map pieces l -> gpus_fit l -> gpus_fit m.
Proof.
  intros l m E G i. specialize (G i). rewrite gpus_used_pieces in *. now rewrite E.
Qed.

Lemma gpus_on_outside : forall i ps, ~ In i (map fst ps) -> gpus_on i ps = 0.
Proof.
  intros i ps; induction ps as [| (k, n) ps IH]; intros H; [reflexivity |].
  unfold gpus_on in *. simpl in *. rewrite IH by tauto.
  destruct (Nat.eqb_spec k i); [subst; tauto | reflexivity].
Qed.

Lemma forallb_false : forall A (f : A -> bool) l, forallb f l = false ->
  exists x, In x l /\ f x = false.
Proof.
  intros A f l; induction l as [| x l IH]; simpl; intros H; [discriminate |].
  destruct (f x) eqn:E; [| exists x; split; [now left | assumption]].
  destruct (IH H) as (y & Hy & F). exists y. split; [now right | assumption].
Qed.

Lemma fits_or_overdrawn : forall l, gpus_fit l ->
  fits l \/ exists i r, gpus_each * per_gpu r < used i r l.
Proof.
  intros l G. set (servers := flat_map (fun e => map fst (pieces e)) l).
  destruct (forallb (fun i => forallb (fun r => used i r l <=? gpus_each * per_gpu r) resources)
              servers) eqn:B.
  - left. split; [assumption |]. intros i r. rewrite forallb_forall in B.
    destruct (in_dec Nat.eq_dec i servers) as [Hi | Hi].
    + specialize (B i Hi). rewrite forallb_forall in B. apply Nat.leb_le, B, every_resource.
    + replace (used i r l) with 0; [lia |]. unfold used. subst servers. clear B G.
      induction l as [| e l IH]; [reflexivity |]. simpl in *. rewrite in_app_iff in Hi.
      rewrite gpus_on_outside by tauto. simpl. apply IH. tauto.
  - right. apply forallb_false in B as (i & _ & B). apply forallb_false in B as (r & _ & B).
    exists i, r. now apply Nat.leb_gt.
Qed.

(** Switching while something is overdrawn ends, and ends with everything
    fitting. *)
Theorem switching_succeeds : forall l, gpus_fit l -> exists m, switches l m /\ fits m.
Proof.
  intros l. remember (at_demand l) as n eqn:E. revert l E.
  induction n as [| n IH]; intros l E G; destruct (fits_or_overdrawn l G) as [F | (i & r & U)];
    try (exists l; split; [constructor | assumption]);
    destruct (overdrawn_has_giver l i r (G i) U) as (e & He & _ & L);
    apply in_split in He as (a & b & ->);
    assert (X : exceeds e) by (intros W; specialize (W r); lia);
    assert (S := switch_one a e b X); assert (C := switch_counts _ _ S).
  - exfalso. rewrite <- E in C. discriminate.
  - destruct (IH (a ++ to_share e :: b)) as (m & Sm & Fm); [lia | |].
    + exact (gpus_fit_pieces _ _ (proj2 (switch_keeps _ _ S)) G).
    + exists m. split; [exact (switch_more _ _ _ S Sm) | assumption].
Qed.

(** ** Together *)

Theorem tuned_fits : forall l, tuned l -> fits l.
Proof.
  intros l H; induction H as [| l m H IH S].
  - split; [intros i | intros i r]; apply Nat.le_0_l.
  - destruct S; assumption.
Qed.

(** A step adds one job; nobody is dropped or moved. *)
Theorem step_keeps_jobs : forall l m, step l m ->
  exists e, map who m = who e :: map who l /\ map pieces m = pieces e :: map pieces l.
Proof.
  intros l m S; destruct S as [l j ps F | l j ps F | l m e G W S F].
  - eexists; split; reflexivity.
  - eexists; split; reflexivity.
  - exists e. exact (switches_keep _ _ S).
Qed.

(** A job whose GPUs are free on some servers can always be placed there. *)
Theorem never_stuck : forall l j ps,
  gpus_fit ({| who := j; pieces := ps; how := AtShare |} :: l) ->
  exists m, step l m /\ map who m = j :: map who l /\ map pieces m = ps :: map pieces l.
Proof.
  intros l j ps G. destruct (switching_succeeds _ G) as (m & S & F). exists m.
  split; [| exact (switches_keep _ _ S)].
  apply (fall_back l m _ G); [intros r; apply le_n | assumption | assumption].
Qed.

(** The GPUs of a job are free somewhere if no more are asked for than are left. *)
Lemma free_gpus : forall (room : nat -> nat) servers g, g <= sum (map room (seq 0 servers)) ->
  exists ps, sum (map snd ps) = g /\ (forall i, In i (map fst ps) -> i < servers) /\
    forall i, gpus_on i ps <= room i.
Proof.
  intros room servers; induction servers as [| s IH]; intros g H.
  - exists []. simpl in *. repeat split; [lia | contradiction | intros i; apply Nat.le_0_l].
  - rewrite seq_S, map_app, sum_app in H. simpl in H.
    destruct (IH (g - Nat.min g (room s))) as (ps & Hg & Hi & Hr); [lia |].
    exists ((s, Nat.min g (room s)) :: ps). simpl. split; [lia |]. split.
    + intros i [<- | Hin]; [lia | specialize (Hi i Hin); lia].
    + intros i. specialize (Hr i). unfold gpus_on in *. simpl.
      destruct (Nat.eqb_spec s i) as [<- | _]; [| lia].
      assert (Z : gpus_on s ps = 0)
        by (apply gpus_on_outside; intros C; specialize (Hi s C); lia).
      unfold gpus_on in Z. rewrite Z. lia.
Qed.

Lemma room_sum : forall l n, gpus_fit l ->
  sum (map (fun i => gpus_each - gpus_used i l) (seq 0 n)) + sum (map (fun i => gpus_used i l) (seq 0 n))
  = n * gpus_each.
Proof.
  intros l n G; induction n as [| n IH]; [reflexivity |].
  rewrite seq_S, !map_app, !sum_app. simpl. specialize (G n). lia.
Qed.

(** So every job of a runnable set finds a place. *)
Theorem places_next : forall l j servers g, gpus_fit l ->
  g + sum (map (fun i => gpus_used i l) (seq 0 servers)) <= servers * gpus_each ->
  exists ps m, sum (map snd ps) = g /\ (forall i, In i (map fst ps) -> i < servers) /\
    step l m /\ map who m = j :: map who l /\ map pieces m = ps :: map pieces l.
Proof.
  intros l j servers g G H. assert (R := room_sum l servers G).
  destruct (free_gpus (fun i => gpus_each - gpus_used i l) servers g) as (ps & Hg & Hi & Hr); [lia |].
  destruct (never_stuck l j ps) as (m & S & W & E).
  - intros i. specialize (Hr i). specialize (G i). unfold gpus_used in *. simpl in *. lia.
  - exists ps, m. repeat split; assumption.
Qed.

(** The order of switching does not matter: after any switches either everything
    fits, or somebody can give of what is overdrawn; and the end can be reached. *)
Theorem any_order : forall l m, gpus_fit l -> switches l m ->
  (fits m \/ exists i r a e b,
     gpus_each * per_gpu r < used i r m /\ m = a ++ e :: b /\
     0 < gpus_on i (pieces e) /\ per_gpu r < allotment e r /\
     switch m (a ++ to_share e :: b)) /\
  exists n, switches m n /\ fits n.
Proof.
  intros l m G S.
  assert (G' : gpus_fit m) by exact (gpus_fit_pieces _ _ (proj2 (switches_keep _ _ S)) G).
  split; [| now apply switching_succeeds].
  destruct (fits_or_overdrawn m G') as [F | (i & r & U)]; [now left | right].
  destruct (overdrawn_has_giver m i r (G' i) U) as (e & He & On & L).
  apply in_split in He as (a & b & ->). exists i, r, a, e, b.
  repeat split; try assumption. intros W. specialize (W r). lia.
Qed.

End Tune.

(** ** Why the rules are as they are

    Two resources, CPU ([true]) and memory ([false]); the share of a GPU is two
    of each. *)
Definition two_each (r : bool) : nat := 2.
Definition vec (cpu memory : nat) (r : bool) : nat := if r then cpu else memory.

(** Taking the smaller of demand and share in each resource is unfair, although
    the throughput is monotone: (1, 2) is less than either. *)
Definition picky : job bool :=
  {| demand := vec 1 3; grid := [(vec 1 3, 2); (vec 2 2, 2); (vec 1 2, 1)] |}.

Example minimum_is_unfair :
  saturating bool picky /\
  ~ fair bool two_each picky (fun r => Nat.min (demand bool picky r) (two_each r)).
Proof.
  split.
  - intros c w H. simpl in H.
    exists 2. split; [repeat (destruct H as [H | H]; [injection H as _ <-; lia |]); contradiction |].
    exists (vec 1 3). split; [now left | intros r; simpl; lia].
  - intros F. destruct (F 2) as (w & Hw & c & Hc & Hin).
    + exists (vec 2 2). split; [right; now left | intros []; cbv; lia].
    + simpl in Hc. destruct Hc as [E | [E | [E | []]]]; injection E as <- <-; [| | lia].
      * specialize (Hin false). cbv in Hin. lia.
      * specialize (Hin true). cbv in Hin. lia.
Qed.

(** A demand that does not saturate need not be fair. *)
Definition shy : job bool :=
  {| demand := vec 1 1; grid := [(vec 1 1, 1); (vec 2 2, 2)] |}.

Example saturating_needed : ~ fair bool two_each shy (demand bool shy).
Proof.
  intros F. destruct (F 2) as (w & Hw & c & Hc & Hin).
  - exists (vec 2 2). split; [right; now left | intros []; cbv; lia].
  - simpl in Hc. destruct Hc as [E | [E | []]]; injection E as <- <-; [lia |].
    specialize (Hin true). cbv in Hin. lia.
Qed.

(** Switching a job that lies on two servers can overfill the other one, so
    switching must go on there, or take a closed set of servers at once.  Servers
    of two GPUs; the wide job holds (3, 1) on both, its neighbour on server 1
    holds (1, 3), and a newcomer takes its share on server 0. *)
Definition wide : placed bool :=
  {| who := {| demand := vec 3 1; grid := [] |}; pieces := [(0, 1); (1, 1)]; how := AtDemand |}.
Definition neighbour : placed bool :=
  {| who := {| demand := vec 1 3; grid := [] |}; pieces := [(1, 1)]; how := AtDemand |}.
Definition newcomer : placed bool :=
  {| who := picky; pieces := [(0, 1)]; how := AtShare |}.

Example closed_needed :
  let before := [wide; neighbour] in
  let after := [to_share bool wide; neighbour] in
  let touched := fun i => i =? 0 in
  fits bool two_each 2 before /\
  gpus_fit bool 2 (newcomer :: before) /\
  switched bool two_each touched before after /\
  ~ fits bool two_each 2 (newcomer :: after).
Proof.
  repeat split.
  - intros [| [| i]]; vm_compute; lia.
  - intros [| [| i]] []; vm_compute; lia.
  - intros [| [| i]]; vm_compute; lia.
  - constructor; [left | constructor; [right | constructor]].
    + repeat split; [exists 0; split; [reflexivity | vm_compute; lia] |].
      intros W. specialize (W true). vm_compute in W. lia.
    + split; [left | reflexivity]. intros (i & Hi & G).
      apply Nat.eqb_eq in Hi. subst i. vm_compute in G. lia.
  - intros (_ & F). specialize (F 1 false). vm_compute in F. lia.
Qed.

