/** The frame: account, navigation, and the view that the address names. */
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Account, AccountContext, type Permission, readAccount } from './account.js';
import { key, Refusal } from './api.js';
import { useLoad } from './hooks.js';
import { Failure, Loading } from './parts/basics.js';
import { kept } from './kept.js';
import { keepFocus } from './kept-focus.js';
import { ThemeSwitch } from './parts/theme.js';
import { linkTo, useAddress } from './router.js';
import { texts } from './texts.js';
import { Agents } from './views/agents/index.js';
import { Audit } from './views/audit.js';
import { Calls } from './views/calls/index.js';
import { DeliveryList } from './views/deliveries.js';
import { KeyAgain } from './views/key-again.js';
import { Knowledge } from './views/knowledge/knowledge.js';
import { Listen } from './views/listen/listen.js';
import { Machine } from './views/machine/machine.js';
import { Phone } from './views/phone/numbers.js';
import { Realtime } from './views/realtime/realtime.js';
import { SignIn } from './views/sign-in.js';
import { Speak } from './views/speak/speak.js';
import { Start } from './views/start/start.js';
import { Talk } from './views/talk.js';
import { Tests } from './views/tests/index.js';
import { Tools } from './views/tools/tools.js';
import { Voices } from './views/voices/voices.js';

interface View {
  /** The first segment of the address. */
  readonly name: keyof typeof texts.views;
  readonly path: readonly string[];
  readonly needs: Permission;
  readonly view: ComponentType;
  /** Heading above its link; links without one come first. */
  readonly group?: keyof typeof texts.groups;
}

const VIEWS: readonly View[] = [
  { name: 'start', path: [], needs: 'open', view: Start },
  { name: 'speak', path: ['speak'], needs: 'speech', view: Speak, group: 'try' },
  { name: 'listen', path: ['listen'], needs: 'speech', view: Listen, group: 'try' },
  { name: 'realtime', path: ['realtime'], needs: 'speech', view: Realtime, group: 'try' },
  { name: 'talk', path: ['talk'], needs: 'sessions', view: Talk, group: 'try' },
  { name: 'agents', path: ['agents'], needs: 'read', view: Agents, group: 'build' },
  { name: 'tools', path: ['tools'], needs: 'read', view: Tools, group: 'build' },
  { name: 'knowledge', path: ['knowledge'], needs: 'read', view: Knowledge, group: 'build' },
  { name: 'voices', path: ['voices'], needs: 'catalogue', view: Voices, group: 'build' },
  { name: 'tests', path: ['tests'], needs: 'records', view: Tests, group: 'build' },
  { name: 'phone', path: ['phone'], needs: 'read', view: Phone, group: 'build' },
  { name: 'calls', path: ['calls'], needs: 'records', view: Calls, group: 'watch' },
  { name: 'deliveries', path: ['deliveries'], needs: 'records', view: DeliveryList, group: 'watch' },
  { name: 'audit', path: ['audit'], needs: 'read', view: Audit, group: 'watch' },
  { name: 'machine', path: ['machine'], needs: 'read', view: Machine, group: 'watch' },
];

const GROUPS = [undefined, 'try', 'build', 'watch'] as const;

/** A view that a link leads to begins at its top; one that somebody comes back to is where they left it. */
function useTop(view: string): void {
  useEffect(() => {
    if (history.state === null) scrollTo(0, 0);
    history.replaceState({ seen: true }, '');
  }, [view]);
}

type LinksProps = { readonly views: readonly View[]; readonly current: View };

const Group = ({ views, current, name }: LinksProps & { readonly name: View['group'] }) => (
  <>
    {name && views.length > 0 && <p class="heading">{texts.groups[name]}</p>}
    <ul>
      {views.map((view) => (
        <li key={view.name}>
          <a href={linkTo(view.path)} aria-current={view === current ? 'page' : undefined}>
            {texts.views[view.name]}
          </a>
        </li>
      ))}
    </ul>
  </>
);

/** Navigation links; if they do not all fit, as on a phone, the current one is scrolled into view. */
function Links({ views, current }: LinksProps) {
  const links = useRef<HTMLElement>(null);
  useEffect(() => {
    const link = links.current?.querySelector<HTMLElement>('[aria-current]');
    if (link) links.current?.scrollTo({ left: link.offsetLeft - links.current.offsetWidth / 2 });
  }, [current]);
  return (
    <nav aria-label={texts.name} ref={links}>
      {GROUPS.map((name) => (
        <Group key={name} name={name} views={views.filter(({ group }) => group === name)} current={current} />
      ))}
      <ul>
        <li>
          <a href="docs">{texts.views.api}</a>
        </li>
      </ul>
    </nav>
  );
}

function Frame({
  account,
  signOut,
}: {
  readonly account: Account;
  readonly signOut: (wanted: boolean) => void;
}) {
  const { path } = useAddress();
  const content = useRef<HTMLElement>(null);
  const views = VIEWS.filter(({ needs }) => account.permissions.includes(needs));
  const current = views.find((view) => view.path[0] === path[0]) ?? (VIEWS[0] as View);
  const Shown = current.view;
  useTop(path.join('/'));
  useEffect(() => (content.current ? keepFocus(content.current) : undefined), []);
  useEffect(() => {
    document.title = `${texts.views[current.name]} · ${texts.name}`;
  }, [current]);
  return (
    <div class="frame">
      <button class="button skip" type="button" onClick={() => content.current?.focus()}>
        {texts.skip}
      </button>
      <header class="side">
        <a class="brand" href={linkTo([])}>
          {texts.name}
        </a>
        <Links views={views} current={current} />
        <div class="foot">
          <span class="soft">{texts.signIn.role(account.role)}</span>
          <ThemeSwitch />
          <button class="button plain" type="button" onClick={() => signOut(true)}>
            {texts.signIn.out}
          </button>
        </div>
      </header>
      <main ref={content} tabIndex={-1}>
        <Shown />
      </main>
    </div>
  );
}

/** Checks the kept key again, since it may have ended. */
function SignedIn({ signOut }: { readonly signOut: (wanted: boolean) => void }) {
  const { data, error, reload } = useLoad(readAccount, []);
  const refused = error instanceof Refusal && error.status === 401;
  useEffect(() => {
    if (refused) signOut(false);
  }, [refused]);
  if (data)
    return (
      <AccountContext.Provider value={data}>
        <Frame account={data} signOut={signOut} />
        <KeyAgain workspace={data.workspace_id} signOut={() => signOut(true)} />
      </AccountContext.Provider>
    );
  return (
    <main class="gate">{error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}</main>
  );
}

export function App() {
  const [signedIn, setSignedIn] = useState(key.read() !== '');
  /** Keeps typed values if the key has ended; if the user wants to sign out, leaves nothing to the next user. */
  const signOut = (wanted: boolean) => {
    key.forget();
    if (wanted) kept.forgetAll();
    setSignedIn(false);
  };
  return signedIn ? <SignedIn signOut={signOut} /> : <SignIn done={() => setSignedIn(true)} />;
}
