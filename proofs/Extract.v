(** The allocator as OCaml.  Trusted here: Coq's extraction, and that [nat] and
    [Z] as 63-bit machine integers do not overflow (clusters have fewer GPUs). *)

From Coq Require Import Arith List ZArith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZInt.
From Proofs Require Import Cells.
Import ListNotations.

(** Split factors from the lowest level up. *)
Definition chain_of (top_cells : nat) (factors : list nat) : chain :=
  {| top := length factors; cells := top_cells; factor := fun k => nth k factors 1 |}.

(** Entries (tenant, level, cells). *)
Definition reservation_of (l : list (nat * nat * nat)) : reservation :=
  {| tenants := nodup Nat.eq_dec (map (fun e => fst (fst e)) l);
     quota := fun t k => sum_nat (map snd
       (filter (fun e => (fst (fst e) =? t) && (snd (fst e) =? k))%bool l)) |}.

Definition merge_always (k : nat) : bool := true.

Extraction Language OCaml.
Extraction "allocator.ml" chain_of reservation_of initial allocate release slack lowest merge_always.
