/** The headers of native options in /openapi.json: every route that speaks for protocols A and B takes them (rule 4). */
import { describedParameters } from '../../../contracts/options/describing.js';
import { NATIVE_OPTIONS } from '../../../contracts/options/native.js';
import { headerName } from '../../../contracts/schemas/option-sources.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import type { RouteDescription } from '../port.js';

interface Named {
  readonly vocabulary: Pick<Vocabulary, 'headerPrefix'>;
}

/** The rows; those with `optionHeaders` have the headers among their parameters. */
export function withOptionHeaders<Row extends { readonly description?: RouteDescription }>(
  rows: readonly Row[],
  { vocabulary: { headerPrefix } }: Named,
): readonly Row[] {
  const headers = describedParameters(NATIVE_OPTIONS, 'header', (name) => headerName(headerPrefix, name));
  return rows.map((row) => {
    const { description } = row;
    if (!description?.optionHeaders) return row;
    const parameters = [...(description.parameters ?? []), ...headers];
    return { ...row, description: { ...description, parameters } };
  });
}
