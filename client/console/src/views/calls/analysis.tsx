/** The analysis of a call after its end, and the rest of its record. */
import { Scroll } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import type { Analysis, Call } from './record.js';

const { calls } = texts;

type Row = { readonly name: string; readonly value: string; readonly rationale: string };

const Rows = ({ title, rows }: { readonly title: string; readonly rows: readonly Row[] }) =>
  rows.length === 0 ? null : (
    <Scroll label={title}>
      <table>
        <caption>{title}</caption>
        <tbody>
          {rows.map(({ name, value, rationale }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
              <td class="soft">{rationale}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export const AnalysisPanel = ({ analysis }: { readonly analysis: Analysis }) => (
  <section class="panel stack tight">
    <h2>{calls.analysis}</h2>
    {analysis.status === 'skipped' && <p class="soft">{calls.skipped(analysis.reason ?? '')}</p>}
    {calls.analysisStates[analysis.status] && <p class="soft">{calls.analysisStates[analysis.status]}</p>}
    {analysis.summary && <p>{analysis.summary}</p>}
    <Rows title={calls.data} rows={analysis.data.map((row) => ({ ...row, value: textOf(row.value) }))} />
    <Rows
      title={calls.criteria}
      rows={analysis.criteria_results.map((row) => ({
        ...row,
        value: calls.results[row.result] ?? row.result,
      }))}
    />
  </section>
);

/** The rest of the record, unchanged. */
export const Details = ({ call }: { readonly call: Call }) => {
  const { items: _items, turns: _turns, analysis: _analysis, ...rest } = call;
  return (
    <details class="panel">
      <summary>{calls.details}</summary>
      <pre tabIndex={0}>{JSON.stringify(rest, null, 2)}</pre>
    </details>
  );
};
