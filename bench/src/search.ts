/** The greatest load at which objectives hold: doubled until they break, then halved between the two. */
export interface Step {
  readonly load: number;
  readonly met: boolean;
}

export interface SearchOptions {
  readonly first: number;
  readonly most: number;
  /** Steps between the last load that held and the first that did not. */
  readonly refinements: number;
}

export interface Found {
  /** 0 where not even the least load held. */
  readonly load: number;
  /** Whether a greater load was seen to break them. */
  readonly broke: boolean;
  readonly steps: readonly Step[];
}

/** `tryLoad` says whether the objectives held at a load. */
export async function searchLoad(
  { first, most, refinements }: SearchOptions,
  tryLoad: (load: number) => Promise<boolean>,
): Promise<Found> {
  const steps: Step[] = [];
  const at = async (load: number): Promise<boolean> => {
    const met = await tryLoad(load);
    steps.push({ load, met });
    return met;
  };
  let held = 0;
  let broken = Infinity;
  for (let load = first; load <= most; load *= 2) {
    if (await at(load)) held = load;
    else {
      broken = load;
      break;
    }
  }
  for (let index = 0; index < refinements && broken < Infinity; index += 1) {
    const middle = (held + broken) / 2;
    if (await at(middle)) held = middle;
    else broken = middle;
  }
  return { load: held, broke: broken < Infinity, steps };
}
