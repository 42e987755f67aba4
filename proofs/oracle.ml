(* Replays event traces with the extracted allocator.

   Reads lines from standard input:
     chain TOP_CELLS FACTOR...       split factors from the top level down; starts a new trace
     reserve TENANT LEVEL CELLS      tenants are numbers, levels count from 1 (one GPU)
     allocate ID TENANT LEVEL
     release ID
   and repeats each, the two events followed by the outcome, every free list and the slack:
     allocate c1 0 2 => granted 5 | 1: 8 | 2: | 3: 3 | slack 0 0 1
   A cell is its number among the cells of its level, counted from 0.
   Anything after " => " on an input line is ignored, so that output can be replayed. *)

open Allocator

let factors = ref [] and top_cells = ref 0 and reserved = ref []
let state = ref None
let ids : (string, int * (int * int)) Hashtbl.t = Hashtbl.create 64

let chain () = chain_of !top_cells !factors
let reservation () = reservation_of (List.rev !reserved)
let current () = match !state with Some s -> s | None -> initial (chain ())

let rec levels k n = if k > n then [] else k :: levels (k + 1) n

let picture s =
  let p = chain () in
  let all = levels 0 (List.length !factors) in
  let numbers l = String.concat "" (List.map (fun i -> " " ^ string_of_int i) l) in
  let level k = Printf.sprintf " | %d:%s" (k + 1) (numbers (List.sort compare (s.free k))) in
  String.concat "" (List.map level all)
  ^ " | slack" ^ numbers (List.map (slack p (reservation ()) s) all)

(* The free lists are a function that every event wraps once more: flatten it. *)
let flatten s =
  let table = Array.of_list (List.map s.free (levels 0 (List.length !factors))) in
  { s with free = fun k -> if k < Array.length table then table.(k) else [] }

let answer line outcome s =
  state := Some (flatten s);
  Printf.printf "%s => %s%s\n" line outcome (picture s)

let event line words =
  let s = current () in
  match words with
  | "chain" :: n :: rest ->
      top_cells := int_of_string n;
      factors := List.rev_map int_of_string rest;
      reserved := []; state := None; Hashtbl.reset ids;
      print_endline line
  | [ "reserve"; t; k; n ] ->
      reserved := ((int_of_string t, int_of_string k - 1), int_of_string n) :: !reserved;
      print_endline line
  | [ "allocate"; id; t; k ] -> (
      let t = int_of_string t and k = int_of_string k - 1 in
      match allocate (chain ()) (reservation ()) lowest s t k with
      | Some (s', i) ->
          Hashtbl.replace ids id (t, (k, i));
          answer line (Printf.sprintf "granted %d" i) s'
      | None -> answer line "refused" s)
  | [ "release"; id ] -> (
      match Hashtbl.find_opt ids id with
      | None -> answer line "refused" s
      | Some (t, c) -> (
          match release (chain ()) merge_always s t c with
          | Some s' -> Hashtbl.remove ids id; answer line "released" s'
          | None -> answer line "refused" s))
  | _ -> prerr_endline ("cannot read: " ^ line); exit 2

let without_answer line =
  let n = String.length line in
  let rec go i =
    if i + 4 > n then line else if String.sub line i 4 = " => " then String.sub line 0 i
    else go (i + 1) in
  go 0

let () =
  try
    while true do
      let line = without_answer (String.trim (input_line stdin)) in
      if line <> "" && line.[0] <> '#' then
        event line (List.filter (( <> ) "") (String.split_on_char ' ' line))
    done
  with End_of_file -> ()
