(** HiveD's buddy cell allocation (OSDI '20, Algorithm 1) as an executable
    program over concrete cells.  Definitions only; proofs are in
    [CellsProofs.v], the statements in [StatementsHived.v].

    Levels count from 0 here (0 is one GPU) and from 1 in the paper and in
    [hived_cells]: level [k] here is the paper's level [k + 1].  The oracle
    converts when it reads and prints. *)

From Coq Require Import Arith List Lia Bool ZArith.
Import ListNotations.

(** A uniform pool: [cells] top-level cells at level [top]; a cell of level
    [k + 1] consists of [factor k] cells of level [k]. *)
Record chain := { top : nat; cells : nat; factor : nat -> nat }.

Definition wf (p : chain) : Prop := forall k, k < top p -> 1 <= factor p k.

(** GPUs in a cell of level [k]. *)
Fixpoint width (p : chain) (k : nat) : nat :=
  match k with 0 => 1 | S j => factor p j * width p j end.

(** A cell is its level and its number among the cells of that level,
    counted from the left; its GPUs are an interval. *)
Notation cell := (nat * nat)%type (only parsing).
Definition gpus (p : chain) (c : cell) : list nat :=
  seq (snd c * width p (fst c)) (width p (fst c)).
Definition gpus_of (p : chain) (l : list cell) : list nat := flat_map (gpus p) l.
Definition all_gpus (p : chain) : list nat := seq 0 (cells p * width p (top p)).

(** The level-[k] buddies inside cell [i] of level [k + 1]. *)
Definition children (p : chain) (k i : nat) : list nat :=
  seq (i * factor p k) (factor p k).

(** [free k] is the free list of level [k]; [held] lists who holds which cell. *)
Record state := { free : nat -> list nat; held : list (nat * cell) }.

Definition initial (p : chain) : state :=
  {| free := fun k => if k =? top p then seq 0 (cells p) else []; held := [] |}.

(** Tenants and what each has reserved at each level. *)
Record reservation := { tenants : list nat; quota : nat -> nat -> nat }.

Definition upd {A} (f : nat -> A) (k : nat) (v : A) : nat -> A :=
  fun j => if j =? k then v else f j.

Fixpoint remove1 {A} (eqb : A -> A -> bool) (x : A) (l : list A) : list A :=
  match l with
  | [] => []
  | y :: r => if eqb x y then r else y :: remove1 eqb x r
  end.

Definition mem {A} (eqb : A -> A -> bool) (x : A) (l : list A) : bool :=
  existsb (eqb x) l.

Definition held_eqb (a b : nat * cell) : bool :=
  (fst a =? fst b) && (fst (snd a) =? fst (snd b)) && (snd (snd a) =? snd (snd b)).

(** A policy picks one of the free cells it is shown.  It is an argument of
    every single operation, so that policies may look at anything: history,
    health, low-priority use, chance. *)
Definition policy := nat -> list nat -> nat.
Definition valid_policy (choose : policy) : Prop :=
  forall k l, l <> [] -> In (choose k l) l.

(** Take a cell of level [k] by splitting one of level [k + d]: at every level
    on the way down one child goes on, its buddies join the free list. *)
Fixpoint take (p : chain) (choose : policy) (d k : nat) (fr : nat -> list nat)
  : nat * (nat -> list nat) :=
  match d with
  | 0 => let x := choose k (fr k) in (x, upd fr k (remove1 Nat.eqb x (fr k)))
  | S d' =>
      let (i, fr') := take p choose d' (S k) fr in
      let kids := children p k i in
      let x := choose k kids in
      (x, upd fr' k (remove1 Nat.eqb x kids ++ fr' k))
  end.

(** How far above level [k] the lowest non-empty free list is, up to [d]. *)
Fixpoint find (d k : nat) (fr : nat -> list nat) : option nat :=
  match fr k with
  | _ :: _ => Some 0
  | [] => match d with 0 => None | S d' => option_map S (find d' (S k) fr) end
  end.

Definition holds (s : state) (t k : nat) : nat :=
  length (filter (fun e => (fst e =? t) && (fst (snd e) =? k)) (held s)).

(** The quota check: tenant [t] holds fewer level-[k] cells than it reserved. *)
Definition legalb (p : chain) (q : reservation) (s : state) (t k : nat) : bool :=
  mem Nat.eqb t (tenants q) && (k <=? top p) && (holds s t k <? quota q t k).

Definition grant (p : chain) (choose : policy) (s : state) (t d k : nat) : state * nat :=
  let (i, fr) := take p choose d k (free s) in
  ({| free := fr; held := (t, (k, i)) :: held s |}, i).

(** Allocate: refuse the illegal, else split the lowest level that has a cell.
    The second [None] ("no cell left") is what Theorem 1 excludes. *)
Definition allocate (p : chain) (q : reservation) (choose : policy)
  (s : state) (t k : nat) : option (state * nat) :=
  if legalb p q s t k then
    match find (top p - k) k (free s) with
    | None => None
    | Some d => Some (grant p choose s t d k)
    end
  else None.

Definition mem_free := mem Nat.eqb.

(** Give a cell back: if merging is wanted at this level and all buddies are
    free, they become one cell of the level above, which is given back in turn. *)
Fixpoint give (p : chain) (merge : nat -> bool) (d k i : nat) (fr : nat -> list nat)
  : nat -> list nat :=
  match d with
  | 0 => upd fr k (i :: fr k)
  | S d' =>
      let parent := i / factor p k in
      let buddies := remove1 Nat.eqb i (children p k parent) in
      if merge k && forallb (fun b => mem_free b (fr k)) buddies
      then give p merge d' (S k) parent
             (upd fr k (fold_right (remove1 Nat.eqb) (fr k) buddies))
      else upd fr k (i :: fr k)
  end.

(** Release: only the holder may; [hived_cells] merges at every level
    ([merge = fun _ => true]), the theorems hold for any choice. *)
Definition release (p : chain) (merge : nat -> bool) (s : state) (t : nat) (c : cell)
  : option state :=
  if mem held_eqb (t, c) (held s)
  then Some {| free := give p merge (top p - fst c) (fst c) (snd c) (free s);
               held := remove1 held_eqb (t, c) (held s) |}
  else None.

(** ** The quantities of the paper's proof *)

Local Open Scope Z_scope.

Definition sum_nat (l : list nat) : nat := fold_right Nat.add 0%nat l.

(** r_k, a_k, f_k. *)
Definition reserved (q : reservation) (k : nat) : Z :=
  Z.of_nat (sum_nat (map (fun t => quota q t k) (tenants q))).
Definition allocated (s : state) (k : nat) : Z :=
  Z.of_nat (length (filter (fun e => (fst (snd e) =? k)%nat) (held s))).
Definition nfree (s : state) (k : nat) : Z := Z.of_nat (length (free s k)).

(** F_k: level-[k] cells to be had by splitting higher cells not owed to
    anyone; [d] is the number of levels above [k].
    F_top = 0, F_k = h_(k+1) (f_(k+1) + F_(k+1) - (r_(k+1) - a_(k+1))). *)
Fixpoint splittable_from (p : chain) (f owed : nat -> Z) (d k : nat) : Z :=
  match d with
  | O => 0
  | S d' => Z.of_nat (factor p k) *
            (f (S k) + splittable_from p f owed d' (S k) - owed (S k))
  end.

Definition owed (q : reservation) (s : state) (k : nat) : Z :=
  reserved q k - allocated s k.
Definition splittable (p : chain) (q : reservation) (s : state) (k : nat) : Z :=
  splittable_from p (nfree s) (owed q s) (top p - k) k.

(** S_k, the slack. *)
Definition slack (p : chain) (q : reservation) (s : state) (k : nat) : Z :=
  nfree s k + splittable p q s k - owed q s k.

Local Close Scope Z_scope.

(** ** Layouts *)

Definition count_level (k : nat) (l : list cell) : nat :=
  length (filter (fun c => fst c =? k) l).

(** A feasible start: all reserved cells of all tenants fit in the cluster at
    the same time, on disjoint GPUs. *)
Definition in_cluster (p : chain) (c : cell) : Prop :=
  fst c <= top p /\ incl (gpus p c) (all_gpus p).
Definition layout (p : chain) (q : reservation) (l : list cell) : Prop :=
  (forall c, In c l -> in_cluster p c) /\ NoDup (gpus_of p l) /\
  forall k, k <= top p -> Z.of_nat (count_level k l) = reserved q k.
Definition feasible_start (p : chain) (q : reservation) : Prop :=
  exists l, layout p q l.

Definition free_cells (p : chain) (s : state) : list cell :=
  flat_map (fun k => map (pair k) (free s k)) (seq 0 (S (top p))).

(** The owed cells can be carved out of the free cells: disjoint cells, each
    inside one free cell, as many of each level as are owed. *)
Definition carving (p : chain) (q : reservation) (s : state) (l : list cell) : Prop :=
  (forall c, In c l -> exists b, In b (free_cells p s) /\ fst c <= fst b
                                 /\ incl (gpus p c) (gpus p b)) /\
  NoDup (gpus_of p l) /\
  forall k, k <= top p -> Z.of_nat (count_level k l) = owed q s k.

(** A detour: the request is served by splitting level [k + d] although a
    lower level may have free cells (to avoid a bad cell, say). *)
Definition detour (p : chain) (q : reservation) (choose : policy)
  (s : state) (t d k : nat) : option (state * nat) :=
  if legalb p q s t k && (k + d <=? top p) then
    match free s (k + d) with [] => None | _ :: _ => Some (grant p choose s t d k) end
  else None.

(** What a run can reach: legal requests and releases, each with a policy of its
    own, and detours that leave slack at every level they cross. *)
Inductive reachable (p : chain) (q : reservation) : state -> Prop :=
| reach_initial : reachable p q (initial p)
| reach_allocate : forall s choose t k s' i,
    reachable p q s -> valid_policy choose ->
    allocate p q choose s t k = Some (s', i) -> reachable p q s'
| reach_release : forall s merge t c s',
    reachable p q s -> release p merge s t c = Some s' -> reachable p q s'
| reach_detour : forall s choose t d k s' i,
    reachable p q s -> valid_policy choose ->
    (forall j, k < j <= k + d -> (1 <= slack p q s j)%Z) ->
    detour p q choose s t d k = Some (s', i) -> reachable p q s'.

(** The lowest address: what [hived_cells] takes by default where no cell is bad
    and none has low-priority jobs. *)
Definition lowest : policy :=
  fun _ l => match l with [] => 0 | x :: r => fold_left Nat.min r x end.
