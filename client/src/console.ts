/**
 * The console's page: an account owner picks one of his agents, published or draft, and talks to it. The key stays in
 * the page's memory and goes to the gateway that has served the page.
 */
import type { SessionEvents } from './events.js';
import type { SessionResponse } from './place.js';
import { AgentSession } from './session.js';

const find = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind;

const page = {
  account: find<HTMLFormElement>('account'),
  key: find<HTMLInputElement>('key'),
  call: find<HTMLFormElement>('call'),
  agent: find<HTMLSelectElement>('agent'),
  draft: find<HTMLInputElement>('draft'),
  talk: find<HTMLButtonElement>('talk'),
  hangUp: find<HTMLButtonElement>('hang-up'),
  mute: find<HTMLButtonElement>('mute'),
  state: find<HTMLOutputElement>('state'),
  mode: find('mode'),
  meters: find('meters'),
  input: find<HTMLMeterElement>('input'),
  output: find<HTMLMeterElement>('output'),
  lines: find<HTMLOListElement>('lines'),
  aloud: find('aloud'),
  writing: find<HTMLFormElement>('writing'),
  text: find<HTMLInputElement>('text'),
  silent: find<HTMLInputElement>('silent'),
} as const;

let session: AgentSession | undefined;

async function ask<Answer>(path: string, body?: object, signal?: AbortSignal): Promise<Answer> {
  const response = await fetch(new URL(`v1/agent/${path}`, document.baseURI), {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${page.key.value}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const answer = (await response.json().catch(() => undefined)) as { readonly message?: string } | undefined;
  if (response.ok && answer) return answer as Answer;
  throw new Error(answer?.message ?? `The gateway answers ${response.status}, and not as it should`);
}

type Kind = keyof typeof SPEAKERS;

const SPEAKERS = { user: 'You: ', agent: 'Agent: ', tool: 'Tool: ', error: '' } as const;

function line(kind: Kind, text: string, segment = ''): void {
  const id = segment && `segment-${segment}`;
  const item = (id && document.getElementById(id)) || document.createElement('li');
  Object.assign(item, { id, className: kind, textContent: SPEAKERS[kind] + text });
  if (!item.isConnected) page.lines.append(item);
  if (text === '') item.remove();
  else item.scrollIntoView({ block: 'nearest' });
}

/** To screen readers, which lines that still change would keep talking. */
function announce(kind: Kind, text: string): void {
  page.aloud.textContent = SPEAKERS[kind] + text;
}

function complain(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  line('error', text);
  announce('error', text);
}

interface Agent {
  readonly agent_id: string;
  readonly name: string;
}

interface AgentPage {
  readonly agents: readonly Agent[];
  readonly next_cursor: string | null;
}

/** More than anybody wants to pick from. */
const MAX_PAGES = 50;

async function allAgents(): Promise<readonly Agent[]> {
  const found: Agent[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < MAX_PAGES; pages += 1) {
    const list: AgentPage = await ask(`agents?page_size=100&cursor=${encodeURIComponent(cursor)}`);
    found.push(...list.agents);
    cursor = list.next_cursor;
  }
  return found;
}

async function showAgents(): Promise<void> {
  for (const complaint of page.lines.querySelectorAll('.error')) complaint.remove();
  const agents = await allAgents();
  page.agent.replaceChildren(...agents.map(({ agent_id, name }) => new Option(name, agent_id)));
  page.call.hidden = agents.length === 0;
  page.state.value = agents.length === 0 ? 'There are no agents yet.' : '';
}

function requestSession(signal: AbortSignal): Promise<SessionResponse> {
  const client_timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const agent_id = page.agent.value;
  return page.draft.checked
    ? ask(`agents/${encodeURIComponent(agent_id)}/preview`, { client_timezone }, signal)
    : ask('sessions', { agent_id, client_timezone }, signal);
}

/** A session may be given up as soon as it is there; the rest is for calls that have begun. */
function showStatus({ status }: SessionEvents['statusChange']): void {
  const isOver = status === 'disconnected';
  page.talk.disabled = !isOver;
  page.hangUp.disabled = isOver;
  if (status === 'connecting' || isOver) showControls(false);
  page.state.value = isOver ? '' : `${status}…`;
  if (status === 'connected') page.state.value = 'Connected.';
  keepFocus(isOver ? page.talk : page.hangUp);
}

function showControls(talking: boolean): void {
  page.mute.disabled = !talking;
  page.meters.hidden = page.writing.hidden = !talking;
  page.mute.textContent = 'Mute';
  if (!talking) page.mode.textContent = '';
}

function showMode({ mode }: SessionEvents['modeChange']): void {
  page.mode.textContent = `The agent is ${mode}.`;
}

/** An element that is disabled or hidden loses the focus, and with it a keyboard's user his place. */
function keepFocus(next: HTMLElement): void {
  const held = document.activeElement;
  if (!held || held === document.body || held.matches(':disabled, [hidden] *')) next.focus();
}

function follow(talking: AgentSession): void {
  talking.on('statusChange', showStatus);
  talking.on('connect', () => {
    showControls(true);
    showMode(talking);
    measure(talking);
  });
  talking.on('modeChange', showMode);
  talking.on('userTranscript', ({ segmentId, text }) => line('user', text, segmentId));
  talking.on('agentResponseDelta', ({ segmentId, text }) => line('agent', text, segmentId));
  talking.on('agentResponse', ({ segmentId, text }) => line('agent', text, segmentId));
  talking.on('message', ({ role, text }) => announce(role, text));
  talking.on('agentChange', ({ agentName }) => line('tool', `now ${agentName}`));
  talking.on('toolCallStarted', ({ toolName, input }) => line('tool', `${toolName} ${input}`));
  talking.on('toolCallCompleted', ({ toolName, output }) => line('tool', `${toolName} → ${output}`));
  talking.on('toolCallFailed', ({ toolName, error }) => line('tool', `${toolName} failed: ${error}`));
  talking.on('error', complain);
  talking.on('disconnect', ({ reason }) => {
    page.state.value = `Over: ${reason.replaceAll('_', ' ')}.`;
  });
}

/** Failures are told by `error`. */
async function talk(): Promise<void> {
  page.lines.replaceChildren();
  session = new AgentSession({ session: requestSession });
  follow(session);
  await session.start().catch(() => undefined);
}

function measure(talking: AgentSession): void {
  page.input.value = talking.inputVolume;
  page.output.value = talking.outputVolume;
  if (talking.status !== 'disconnected') requestAnimationFrame(() => measure(talking));
}

async function mute(): Promise<void> {
  await session?.setMuted(!session.muted);
  page.mute.textContent = session?.muted ? 'Unmute' : 'Mute';
}

async function write(): Promise<void> {
  await session?.sendText(page.text.value, { audio: !page.silent.checked });
  line('user', page.text.value);
  page.text.value = '';
}

const onSubmit = (form: HTMLFormElement, act: () => Promise<void>): void =>
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    act().catch(complain);
  });

const onClick = (button: HTMLButtonElement, act: () => Promise<void> | undefined): void =>
  button.addEventListener('click', () => void act()?.catch(() => undefined));

onSubmit(page.account, showAgents);
onSubmit(page.call, talk);
onSubmit(page.writing, write);
onClick(page.hangUp, () => session?.end());
onClick(page.mute, mute);
