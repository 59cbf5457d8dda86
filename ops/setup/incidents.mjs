/** docs/operate/incidents.md, from the table of incidents (ops/monitoring/incidents.mjs). */
import { ALERTS } from '../monitoring/alerts.mjs';
import { PARTS } from '../monitoring/incidents.mjs';
import { SetupError } from './failure.mjs';

export const PAGE = 'docs/operate/incidents.md';

const INTRO = `# Incidents

<!-- Made by npm run generate from ops/monitoring/incidents.mjs. -->

What the log, \`/metrics\`, the alerts, \`/health\` and the console say when something fails, and what
to do then. In a line \`…\` stands for a name, an address or a number. A line has fields of its own,
too: \`part\`, \`address\`, \`setting\`, \`outcome\`, and of whoever met it \`workspaceId\`, \`sessionId\`,
\`agentId\`. \`/health\` tells addresses, settings and messages only to [those who may know
them](../operating.md#health-logs-and-metrics). The metric is an expression of Prometheus that is
true meanwhile; what each metric is stands in [metrics.md](../metrics.md), and the alerts in
\`ops/monitoring/alerts.yaml\`.

\`npm run chaos -- night\` makes each of these incidents at a gateway with calls, and looks whether
all of it comes ([chaos.md](chaos.md#the-night)).
`;

const code = (text) => (text === '' ? '–' : `\`${text.replaceAll('|', '\\|')}\``);
const line = (cells) => `| ${cells.join(' | ')} |`;
const table = (heads, rows) => [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');

function alertOf(name) {
  if (name === '') return '–';
  const found = ALERTS.find((alert) => alert.name === name);
  if (!found) throw new SetupError(`ops/monitoring/incidents.mjs names ${name}, which is no alert`);
  return `\`${name}\`, after ${found.for}`;
}

/** What a row, or a part for all of its rows, has in these places. */
const SIGNS = {
  metric: ({ metric }) => code(metric),
  alert: ({ alert }) => alertOf(alert),
  '`/health`': ({ health }) => code(health),
  'line when it is over': ({ back }) => code(back),
  console: (row) => row.console,
};
const FIELDS = { '`/health`': 'health', 'line when it is over': 'back' };
const fieldOf = (sign) => FIELDS[sign] ?? sign;

const settingsOf = ({ settings }) => settings.map((name) => `\`${name}\``).join(', ') || '–';

function partOf({ title, incidents, ...shared }) {
  const [common, own] = [[], []];
  for (const sign of Object.keys(SIGNS)) (fieldOf(sign) in shared ? common : own).push(sign);
  const rows = incidents.map((incident) => [
    incident.symptom,
    code(incident.log),
    ...own.map((sign) => SIGNS[sign](incident)),
    incident.todo,
    settingsOf(incident),
  ]);
  return [
    `## ${title}`,
    ...(common.length === 0
      ? []
      : [
          table(
            ['', ''],
            common.map((sign) => [sign, SIGNS[sign](shared)]),
          ),
        ]),
    table(['what people notice', 'line in the log', ...own, 'what to do', 'settings'], rows),
  ].join('\n\n');
}

export const generateIncidents = () => `${[INTRO.trim(), ...PARTS.map(partOf)].join('\n\n')}\n`;
