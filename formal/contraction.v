(** How a channel contracts differences, for every number of secrets and outcomes.

    [P y x] is the chance of the outcome [y] under the secret [x]. *)
From pmlbook Require Import base.

Section Contraction.

Variable R : realFieldType.
Variables X Y : finType.

(** [d] is the difference of two beliefs.  If two rows differ by at most [eta + eta] in sum, so
    by [eta] in total variation, the channel leaves at most the part [eta] of a difference. *)
Theorem differences_contract (P : Y -> X -> R) (eta : R) (d : X -> R) :
  (forall x z, \sum_y `|P y x - P y z| <= eta + eta) -> \sum_x d x = 0 ->
  \sum_y `|\sum_x d x * P y x| <= eta * \sum_x `|d x|.
Proof.
move=> rows d_sum.
pose up x := Num.max (d x) 0; pose down x := Num.max (- d x) 0.
have up_ge0 x : 0 <= up x by rewrite le_maxr lexx orbT.
have down_ge0 x : 0 <= down x by rewrite le_maxr lexx orbT.
have parts x : d x = up x - down x /\ `|d x| = up x + down x.
  rewrite /up /down; case: (lerP 0 (d x)) => sign.
    by rewrite (ger0_norm sign) max_r ?oppr_le0 // subr0 addr0.
  by rewrite (ltr0_norm sign) max_l ?oppr_ge0 1?ltW // sub0r add0r opprK.
pose s := \sum_x up x.
have down_sum : \sum_x down x = s.
  apply/esym/subr0_eq; rewrite /s -sumrB -[RHS]d_sum.
  by apply: eq_bigr => x _; have [-> _] := parts x.
have size : \sum_x `|d x| = s + s.
  by rewrite -{2}down_sum -big_split; apply: eq_bigr => x _; have [_ ->] := parts x.
have s_ge0 : 0 <= s by exact: sumr_ge0.
have pairs y : s * (\sum_x d x * P y x) = \sum_x \sum_z up x * down z * (P y x - P y z).
  transitivity ((\sum_x up x * P y x) * (\sum_z down z) - (\sum_x up x) * (\sum_z down z * P y z)).
    have -> : \sum_x d x * P y x = \sum_x up x * P y x - \sum_x down x * P y x.
      by rewrite -sumrB; apply: eq_bigr => x _; have [-> _] := parts x; rewrite mulrBl.
    by rewrite down_sum -/s; ring.
  rewrite !mulr_suml -sumrB; apply: eq_bigr => x _.
  by rewrite !mulr_sumr -sumrB; apply: eq_bigr => z _; ring.
have bound : s * (\sum_y `|\sum_x d x * P y x|) <= s * (eta * (s + s)).
  rewrite mulr_sumr.
  apply: (@le_trans _ _ (\sum_y \sum_x \sum_z up x * down z * `|P y x - P y z|)).
    apply: ler_sum => y _; rewrite -{1}(ger0_norm s_ge0) -normrM pairs.
    apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => x _.
    apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => z _.
    by rewrite normrM ger0_norm // mulr_ge0.
  rewrite exchange_big /=.
  apply: (@le_trans _ _ (\sum_x \sum_z up x * down z * (eta + eta))).
    apply: ler_sum => x _; rewrite exchange_big /=; apply: ler_sum => z _.
    by rewrite -mulr_sumr; apply: ler_wpmul2l; [exact: mulr_ge0|exact: rows].
  suff -> : \sum_x \sum_z up x * down z * (eta + eta) = s * (eta * (s + s)) by [].
  transitivity (\sum_x up x * (s * (eta + eta))).
    apply: eq_bigr => x _; rewrite -down_sum mulr_suml mulr_sumr.
    by apply: eq_bigr => z _; ring.
  by rewrite -mulr_suml -/s; ring.
move: s_ge0; rewrite le_eqVlt => /orP[/eqP s0|s_pos]; last by rewrite size -(ler_pmul2l s_pos).
have up0 x : up x = 0 by apply: (psumr_eq0P (fun z _ => up_ge0 z) (esym s0)).
have down0 x : down x = 0.
  by apply: (psumr_eq0P (fun z _ => down_ge0 z) (etrans down_sum (esym s0))).
rewrite big1 ?size -?s0 ?addr0 ?mulr0 // => y _.
by rewrite big1 ?normr0 // => x _; have [-> _] := parts x; rewrite up0 down0 subr0 mul0r.
Qed.

(** The part of a divergence that is left for two secrets, at the mixture [s] of their rows:
    it is at most the total variation of the rows. *)
Theorem pair_contracts_at_most (p q : Y -> R) (s : R) :
  (forall y, 0 <= p y) -> (forall y, 0 <= q y) -> \sum_y p y = 1 -> \sum_y q y = 1 -> 0 < s < 1 ->
  1 - \sum_y p y * q y / (s * p y + (1 - s) * q y) <= \sum_y Num.max (p y - q y) 0.
Proof.
move=> p_ge0 q_ge0 p_sum q_sum /andP[s_gt0 s_lt1].
rewrite -[X in X - _ <= _]p_sum -sumrB; apply: ler_sum => y _.
set m := s * p y + (1 - s) * q y.
have s' : 0 < 1 - s by rewrite subr_gt0.
have m_ge0 : 0 <= m by apply: addr_ge0; apply: mulr_ge0 => //; exact: ltW.
have [m0|m_pos] := eqVneq m 0.
  rewrite m0 invr0 mulr0 subr0.
  have q0 : q y = 0.
    have : (1 - s) * q y <= 0 by rewrite -m0 ler_addr mulr_ge0 // ltW.
    by rewrite pmulr_rle0 // => h; apply/eqP; rewrite eq_le h q_ge0.
  by rewrite q0 subr0 le_maxr lexx.
have {m_ge0}m_gt0 : 0 < m by rewrite lt_neqAle eq_sym m_pos.
rewrite -(ler_pmul2r m_gt0) mulrBl divfK //.
have [pq|qp] := lerP (p y) (q y).
  rewrite max_r ?subr_le0 // mul0r subr_le0 ler_wpmul2l // -subr_ge0.
  have -> : q y - m = s * (q y - p y) by rewrite /m; ring.
  by apply: mulr_ge0; rewrite ?subr_ge0 // ltW.
rewrite max_l; last by rewrite subr_ge0 ltW.
rewrite -subr_ge0.
have -> : (p y - q y) * m - (p y * m - p y * q y) = q y * ((1 - s) * (p y - q y)).
  by rewrite /m; ring.
by apply: mulr_ge0 => //; apply: mulr_ge0; rewrite ?subr_ge0 ltW.
Qed.

End Contraction.
