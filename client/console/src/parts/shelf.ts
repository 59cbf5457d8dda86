/** The models that can be added to the machine that answers, looked at again while one comes or goes. For keys that may `operate`. */
import { useEffect, useRef } from 'preact/hooks';
import { useMay } from '../account.js';
import { ask } from '../api.js';
import { useLoad } from '../hooks.js';

export interface CatalogueModel {
  readonly name: string;
  readonly task: string;
  readonly title: string;
  readonly languages: readonly string[] | null;
  readonly licence: string;
  readonly lineage: string | null;
  readonly about: string | null;
  readonly download_bytes: number;
  readonly disk_bytes: number;
  readonly state: string;
  readonly cpu_seconds: number | null;
  readonly quick_enough_for_calls: boolean | null;
  readonly decided_by: readonly string[];
}

export interface AddingModel {
  readonly name: string;
  readonly bytes: number;
  readonly total_bytes: number;
  /** Null while it goes on. */
  readonly problem: string | null;
}

export interface Shelf {
  readonly models: readonly CatalogueModel[];
  readonly offered: string | null;
  readonly adding: AddingModel | null;
  readonly fixed: string | null;
  readonly problem: string | null;
}

const EVERY_MS = 1000;

/** It is in place, and will be in use in a moment. */
export const isComing = ({ state, decided_by: by }: CatalogueModel): boolean =>
  state === 'added' && by.length === 0;

const isMoving = ({ models, adding, problem }: Shelf): boolean =>
  adding?.problem === null ||
  models.some((model) => model.state === 'leaving' || (isComing(model) && problem === null));

const inUse = ({ models }: Shelf): string =>
  models
    .filter(({ state }) => state === 'in_use' || state === 'leaving')
    .map(({ name }) => name)
    .join(' ');

/** `changed` is called when another set of models is in use. */
export function useShelf(changed: () => void) {
  const may = useMay();
  const loaded = useLoad<Shelf | undefined>(
    async (signal) => (may('operate') ? ask<Shelf>('v1/machine/models', { signal }) : undefined),
    [],
  );
  const { data, busy, reload } = loaded;
  const moves = data !== undefined && isMoving(data);
  const used = data && inUse(data);
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (!moves || busy) return;
    const timer = setTimeout(reload, EVERY_MS);
    return () => clearTimeout(timer);
  }, [moves, busy]);
  useEffect(() => {
    if (used === undefined) return;
    if (before.current !== undefined && before.current !== used) changed();
    before.current = used;
  }, [used]);
  return { shelf: data, error: loaded.error, reload };
}

export type UsedShelf = ReturnType<typeof useShelf>;
