/** Why a measurement cannot be relied upon: this side was the bottleneck, or the machine was busy with other work. */
import { latenciesOf } from '../histogram.js';
import type { Outcome } from '../generator/protocol.js';
import type { Elsewhere } from './machine.js';

export interface Conditions extends Elsewhere {
  /** Cores that the generator used; it has one. */
  readonly generatorCpu: number;
  /** Milliseconds that the latest hundredth of the requests was sent late, at least; NaN in a closed load. */
  readonly lateness: number;
}

export const LIMITS = { generatorCpu: 0.85, lateness: 10, others: 0.15, stolen: 0.15 } as const;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const TOLD: { readonly [K in keyof Conditions]: (value: number) => string } = {
  generatorCpu: (value) => `the load generator used ${percent(value)} of its core`,
  lateness: (value) => `the load generator was ${value.toFixed(1)} ms late (p99)`,
  others: (value) => `other processes used ${percent(value)} of the machine`,
  stolen: (value) => `the host of this virtual machine kept ${percent(value)} of it for others`,
};

export const doubtsOf = (conditions: Conditions): string[] =>
  (Object.keys(LIMITS) as (keyof Conditions)[])
    .filter((name) => conditions[name] > LIMITS[name])
    .map((name) => TOLD[name](conditions[name]));

export const conditionsOf = (
  { cpu, lateness }: Pick<Outcome, 'cpu' | 'lateness'>,
  elsewhere: Elsewhere,
): Conditions => ({
  generatorCpu: cpu,
  lateness: latenciesOf(lateness).at(99) ?? Number.NaN,
  ...elsewhere,
});

/** The worst of each. */
export function worst(all: readonly Conditions[]): Conditions {
  const most = (name: keyof Conditions): number => {
    const known = all.map((conditions) => conditions[name]).filter((value) => !Number.isNaN(value));
    return known.length === 0 ? Number.NaN : Math.max(...known);
  };
  return {
    generatorCpu: most('generatorCpu'),
    lateness: most('lateness'),
    others: most('others'),
    stolen: most('stolen'),
  };
}
