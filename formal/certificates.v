(** Dual certificates of the second paper's problem: which levels a table of allowed pairs admits. *)
From pmlbook Require Import base minimax leakage designs.

Section Certificates.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Hypothesis p_sum : \sum_x p x = 1.

(** A table of allowed pairs. *)
Variable allow : X -> Y -> bool.

Definition respects (P : Y -> X -> R) : Prop := forall y x, ~~ allow x y -> P y x = 0.

(** For a distribution [r] on the secrets, [a] is reached by the outcome [y] if some [u] from
    zero to one, which is zero where [y] is not allowed, has the mean [a] under the prior and
    no smaller one under [r].  The bound of [r] is the inverse of the largest [a]. *)
Definition reaches (r : X -> R) (y : Y) (a : R) : Prop :=
  exists u, [/\ forall x, 0 <= u x <= 1, forall x, ~~ allow x y -> u x = 0, mean p u = a
              & a <= mean r u].

(** A level is possible exactly if no dual certificate rules it out: every distribution [r]
    reaches [1 / c].  So the supremum of their bounds is the least level itself. *)
Theorem dual_certificate_bound (c : R) : 0 < c ->
  (exists P, [/\ mechanism P, keeps p c P & respects P]) <->
  (forall r, (forall x, 0 <= r x) -> \sum_x r x = 1 -> exists y a, reaches r y a /\ c^-1 <= a).
Proof.
move=> c_gt0; have p_ge0 x : 0 <= p x by apply: ltW.
have total r (P : Y -> X -> R) : \sum_y mean r (P y) = \sum_x r x * \sum_y P y x.
  by rewrite exchange_big; apply: eq_bigr => x _; rewrite mulr_sumr.
split=> [[P [[P_ge0 P_one] P_keeps P_respects]] r r_ge0 r_sum|reached].
  have sums s : \sum_x s x = 1 -> \sum_y mean s (P y) = 1.
    by move=> s_sum; rewrite total -s_sum; apply: eq_bigr => x _; rewrite P_one mulr1.
  have m_ge0 s y : (forall x, 0 <= s x) -> 0 <= mean s (P y).
    by move=> s_ge0; apply: sumr_ge0 => x _; apply: mulr_ge0.
  case: (pickP (fun y => (0 < mean p (P y)) && (mean p (P y) <= mean r (P y)))) => [y|none].
    case/andP=> m_gt0 more; have cm_gt0 : 0 < c * mean p (P y) by apply: mulr_gt0.
    pose u x := P y x / (c * mean p (P y)).
    have scaled s : mean s u = mean s (P y) / (c * mean p (P y)).
      by rewrite /mean mulr_suml; apply: eq_bigr => x _; rewrite mulrA.
    have u_mean : mean p u = c^-1 by rewrite scaled invfM mulrCA divff ?mulr1 // lt0r_neq0.
    exists y, c^-1; split=> //; exists u; split=> // [x|x /P_respects Px|].
    - by rewrite divr_ge0 ?(ltW cm_gt0) //= ler_pdivr_mulr // mul1r; apply: P_keeps.
    - by rewrite /u Px mul0r.
    by rewrite -u_mean !scaled ler_pmul2r ?invr_gt0.
  have less y : 0 <= mean p (P y) - mean r (P y).
    rewrite subr_ge0; have := none y; case: (ltP 0 (mean p (P y))) => [_ /= /negbT|m_le0 _].
      by rewrite -ltNge => /ltW.
    have /psumr_eq0P zero : mean p (P y) = 0 by apply/eqP; rewrite eq_le m_le0 m_ge0.
    rewrite [X in X <= _]big1 ?m_ge0 // => x _.
    have /eqP := zero (fun x _ => mulr_ge0 (p_ge0 x) (P_ge0 y x)) x isT.
    by rewrite mulf_eq0 gt_eqF //= => /eqP ->; rewrite mulr0.
  have /psumr_eq0P same : \sum_y (mean p (P y) - mean r (P y)) = 0.
    by rewrite sumrB !sums // subrr.
  have := oner_eq0 R; rewrite -(sums p p_sum) psumr_eq0 => [/negbT /allPn [y _ /= m_neq0]|y _].
    have m_gt0 : 0 < mean p (P y) by rewrite lt_neqAle eq_sym m_neq0 m_ge0.
    have := none y; rewrite m_gt0 /= => /negP []; rewrite -subr_le0.
    by rewrite same.
  exact: m_ge0.
pose all (P : Y * X -> R) := \sum_x p x * \sum_y P (y, x).
pose f (k : Y * X + Y * X + bool) (P : Y * X -> R) : R :=
  match k with
  | inl (inl v) => - P v
  | inl (inr v) => if allow v.2 v.1 then P v - c * \sum_x p x * P (v.1, x) else P v
  | inr above => if above then all P else - all P
  end.
pose b (k : Y * X + Y * X + bool) : R :=
  match k with inl _ => 0 | inr above => if above then 1 else - 1 end.
have all_linear : linear all.
  apply: linear_sum => x; apply: linear_scale; apply: linear_sum => y; exact: linear_at.
have flow r : (forall x, 0 <= r x) -> \sum_x r x = 1 -> exists2 P : Y * X -> R,
    forall k, f k P <= b k & \sum_x r x * (- \sum_y P (y, x)) <= - 1.
  move=> r_ge0 r_sum; have [y [a [[u [u_in u_out u_mean u_more]] a_ge]]] := reached r r_ge0 r_sum.
  have a_gt0 : 0 < a by apply: lt_le_trans a_ge; rewrite invr_gt0.
  pose P (v : Y * X) : R := if v.1 == y then u v.2 / a else 0.
  have at_y x : \sum_z P (z, x) = u x / a.
    by rewrite (bigD1 y) //= /P eqxx big1 ?addr0 // => z /negPf /= ->.
  have P_all : all P = 1.
    rewrite /all; under eq_bigr => x _ do rewrite at_y mulrA.
    by rewrite -mulr_suml -/(mean p u) u_mean divff // lt0r_neq0.
  exists P => [[[v|[z x]]|[]] /=|]; rewrite ?P_all //.
  - rewrite oppr_le0 /P; case: ifP => // _; rewrite divr_ge0 ?(ltW a_gt0) //.
    by have /andP [] := u_in v.2.
  - rewrite /P /=; case: eqP => [->|_]; last first.
      by case: ifP => // _; rewrite big1 ?mulr0 ?subr0 // => t _; rewrite mulr0.
    case: ifP => [_|/negbT /u_out ->]; last by rewrite mul0r.
    have -> : \sum_t p t * (u t / a) = 1.
      under eq_bigr => t _ do rewrite mulrA.
      by rewrite -mulr_suml -/(mean p u) u_mean divff // lt0r_neq0.
    rewrite mulr1 subr_le0 ler_pdivr_mulr //; have /andP [_ /le_trans] := u_in x; apply.
    by rewrite -ler_pdivr_mull // mulr1.
  under eq_bigr => x _ do rewrite at_y mulrN mulrA.
  by rewrite sumrN ler_opp2 -mulr_suml ler_pdivl_mulr // mul1r.
have [[[v|v]|[]]|x||r r_ge0 r_sum|P P_f P_one] :=
    minimax (f := f) (b := b) (g := fun x P => - \sum_y P (y, x)) (D := - 1).
- exact/linear_opp/linear_at.
- rewrite /f; case: (allow _ _); last exact: linear_at.
  apply: linear_add; first exact: linear_at.
  by apply/linear_opp/linear_scale; apply: linear_sum => x; apply/linear_scale/linear_at.
- exact: all_linear.
- exact: linear_opp.
- by apply: linear_opp; apply: linear_sum => y; apply: linear_at.
- by have [P P_f _] := flow p p_ge0 p_sum; exists P.
- exact: flow.
have P_ge0 v : 0 <= P v by have /= := P_f (inl (inl v)); rewrite oppr_le0.
have P_out v : ~~ allow v.2 v.1 -> P v = 0.
  move=> out; apply/eqP; rewrite eq_le P_ge0 andbT.
  by have /= := P_f (inl (inr v)); rewrite (negPf out).
have all1 : all P = 1.
  apply/eqP; rewrite eq_le; have /= -> := P_f (inr true).
  by have /= := P_f (inr false); rewrite ler_opp2.
have sums : forall x, \sum_y P (y, x) = 1.
  have gap x : 0 <= p x * (\sum_y P (y, x) - 1).
    by rewrite mulr_ge0 // subr_ge0; have := P_one x; rewrite ler_opp2.
  have /psumr_eq0P zero : \sum_x p x * (\sum_y P (y, x) - 1) = 0.
    under eq_bigr => x _ do rewrite mulrBr mulr1.
    by rewrite sumrB -/(all P) all1 p_sum subrr.
  move=> x; have /eqP := zero (fun x _ => gap x) x isT.
  by rewrite mulf_eq0 gt_eqF //= subr_eq0 => /eqP.
exists (fun y x => P (y, x)); split=> [|y x|y x]; first by split.
  have [ok|out] := boolP (allow x y); last first.
    by rewrite (P_out (y, x)) // mulr_ge0 ?(ltW c_gt0) //; apply: sumr_ge0 => z _; rewrite mulr_ge0.
  by have /= := P_f (inl (inr (y, x))); rewrite ok subr_le0.
by move=> out; apply: P_out.
Qed.

End Certificates.
