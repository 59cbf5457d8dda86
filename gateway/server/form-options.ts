/** `provider` of a multipart form, which has no objects: JSON text, or its path spelled out with brackets. */
type Fields = Readonly<Record<string, unknown>>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The form's `provider.options`; undefined where it has none. */
export function providerOptionsOf(form: ReadonlyMap<string, readonly string[]>): unknown {
  const spelled = [...form].flatMap(([name, values]) => {
    const vendor = /^provider\[options\]\[([^\]]+)\]/.exec(name)?.[1];
    return vendor === undefined ? [] : [[vendor, values] as const];
  });
  if (spelled.length > 0) return Object.fromEntries(spelled);
  const provider = parsed(form.get('provider')?.at(-1) ?? 'null') as Fields | null | undefined;
  return provider?.['options'];
}
