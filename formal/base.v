(** What every file here uses: MathComp, its ordered fields and their notation. *)
From mathcomp Require Export all_ssreflect all_algebra all_fingroup.
From mathcomp Require Export ring.

Export Order.TTheory GRing.Theory Num.Theory.

#[export] Set Implicit Arguments.
#[export] Unset Strict Implicit.
#[export] Unset Printing Implicit Defensive.
#[global] Open Scope ring_scope.
