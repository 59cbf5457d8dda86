/**
 * The console's page: an account owner picks one of his agents, published or draft, and talks to it. The key stays in
 * the page's memory and goes to the gateway that has served the page.
 */
import { SessionError } from './errors.js';
import { AgentSession } from './session.js';
import type { SessionResponse } from './place.js';

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
  meters: find('meters'),
  input: find<HTMLMeterElement>('input'),
  output: find<HTMLMeterElement>('output'),
  lines: find<HTMLOListElement>('lines'),
  writing: find<HTMLFormElement>('writing'),
  text: find<HTMLInputElement>('text'),
  silent: find<HTMLInputElement>('silent'),
} as const;

let session: AgentSession | undefined;

async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const response = await fetch(new URL(`v1/agent/${path}`, document.baseURI), {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${page.key.value}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { readonly message?: string };
  if (!response.ok) throw new Error(answer.message ?? `The gateway answers ${response.status}`);
  return answer as Answer;
}

function line(kind: 'user' | 'agent' | 'tool' | 'error', text: string, segment = ''): void {
  const id = segment && `segment-${segment}`;
  const item = (id && document.getElementById(id)) || document.createElement('li');
  Object.assign(item, { id, className: kind, textContent: text });
  if (!item.isConnected) page.lines.append(item);
  item.scrollIntoView({ block: 'nearest' });
}

const complain = (error: unknown): void =>
  line('error', error instanceof Error ? error.message : String(error));

async function showAgents(): Promise<void> {
  const { agents } = await ask<{ agents: { agent_id: string; name: string }[] }>('agents?page_size=100');
  page.agent.replaceChildren(...agents.map(({ agent_id, name }) => new Option(name, agent_id)));
  page.call.hidden = agents.length === 0;
  page.state.value = agents.length === 0 ? 'There are no agents yet.' : '';
}

function requestSession(): Promise<SessionResponse> {
  const client_timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const agent_id = page.agent.value;
  return page.draft.checked
    ? ask(`agents/${encodeURIComponent(agent_id)}/preview`, { client_timezone })
    : ask('sessions', { agent_id, client_timezone });
}

function follow(talking: AgentSession): void {
  const show = (): void => {
    const connected = talking.status === 'connected';
    page.state.value = connected ? `The agent is ${talking.mode}.` : `${talking.status}…`;
  };
  talking.on('statusChange', show);
  talking.on('modeChange', show);
  talking.on('userTranscript', ({ segmentId, text }) => line('user', text, segmentId));
  talking.on('agentResponseDelta', ({ segmentId, text }) => line('agent', text, segmentId));
  talking.on('agentResponse', ({ segmentId, text }) => line('agent', text, segmentId));
  talking.on('toolCallStarted', ({ toolName, input }) => line('tool', `${toolName} ${input}`));
  talking.on('toolCallCompleted', ({ toolName, output }) => line('tool', `${toolName} → ${output}`));
  talking.on('toolCallFailed', ({ toolName, error }) => line('tool', `${toolName} failed: ${error}`));
  talking.on('error', complain);
  talking.on('disconnect', ({ reason }) => {
    enable(false);
    page.state.value = `Over: ${reason.replaceAll('_', ' ')}.`;
  });
}

function enable(talking: boolean): void {
  page.talk.disabled = talking;
  page.hangUp.disabled = page.mute.disabled = !talking;
  page.meters.hidden = page.writing.hidden = !talking;
  page.mute.textContent = 'Mute';
}

async function talk(): Promise<void> {
  page.lines.replaceChildren();
  page.talk.disabled = true;
  try {
    session = new AgentSession({ session: await requestSession() });
    follow(session);
    await session.start();
    enable(true);
    measure(session);
  } catch (error) {
    enable(false);
    // What the session itself finds out, it has told already.
    if (!(error instanceof SessionError)) complain(error);
  }
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
