/** The keys of the workspace; made and revoked here where the operator allows it. A new key is shown once. */
import { useContext, useState } from 'preact/hooks';
import { AccountContext, useMay } from '../../account.js';
import { ask } from '../../api.js';
import { momentText } from '../../format.js';
import { submitting, useAction } from '../../hooks.js';
import { Failure, Field, Marked, Scroll } from '../../parts/basics.js';
import { Copy } from '../../parts/copy.js';
import { NameField } from '../../parts/name-field.js';
import { Sure } from '../../parts/sure.js';
import { texts } from '../../texts.js';

const { machine } = texts;
const { making } = machine;

export interface Key {
  readonly key_id: string;
  readonly name: string;
  readonly role: string;
  readonly tail: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

export interface Keys {
  readonly keys: readonly Key[];
  /** Whether full keys may make and revoke them. */
  readonly changeable: boolean;
}

const KEYS = 'v1/keys';

const isValid = ({ revoked_at: revoked, expires_at: expires }: Key): boolean =>
  revoked === null && (expires === null || new Date(expires) > new Date());

const stateOf = (key: Key): string => {
  if (key.revoked_at !== null) return machine.keyStates.revoked;
  if (!isValid(key)) return machine.keyStates.expired;
  return key.expires_at === null
    ? machine.keyStates.valid
    : machine.keyStates.until(momentText(key.expires_at));
};

/** Roles that keys of a workspace have; that of machines is for operators, who have the command. */
const ROLES = ['full', 'speech', 'sessions', 'read'] as const;

const DAY_MS = 86_400_000;

function Make({ made }: { readonly made: (key: string) => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<string>('sessions');
  const [days, setDays] = useState('');
  const action = useAction(async (signal) => {
    const expires = days && { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() };
    const body = { name: name.trim(), role, ...expires };
    const { key } = await ask<{ readonly key: string }>(KEYS, { body, signal });
    setName('');
    made(key);
  });
  return (
    <form class="stack tight" onSubmit={submitting(action)}>
      <div class="fields">
        <NameField label={making.name} value={name} change={setName} />
        <Field label={making.role} help={making.roles[role] ?? ''}>
          {(tied) => (
            <select {...tied} value={role} onChange={({ currentTarget }) => setRole(currentTarget.value)}>
              {ROLES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label={making.days} help={making.daysHelp}>
          {(tied) => (
            <input
              {...tied}
              type="number"
              min={1}
              max={36_500}
              value={days}
              onInput={({ currentTarget }) => setDays(currentTarget.value)}
            />
          )}
        </Field>
      </div>
      <div>
        <button class="button" disabled={action.busy}>
          {making.make}
        </button>
      </div>
      <Failure error={action.error} />
    </form>
  );
}

const Made = ({ text }: { readonly text: string }) => (
  <div class="notice stack tight" role="status">
    <p>{making.made}</p>
    <div class="row">
      <code class="grow text">{text}</code>
      <Copy text={text} />
    </div>
  </div>
);

/** `revoke`: undefined where none can be revoked; null for the key in use. */
const Row = ({
  known,
  revoke,
}: {
  readonly known: Key;
  readonly revoke: (() => Promise<void>) | null | undefined;
}) => (
  <tr>
    <td class="text">
      {known.name} …{known.tail}
    </td>
    <td>{known.role}</td>
    <td>{stateOf(known)}</td>
    <td>{momentText(known.last_used_at)}</td>
    {revoke !== undefined && (
      <td>
        {revoke === null && <span class="soft">{making.inUse}</span>}
        {revoke && isValid(known) && (
          <Sure
            name={making.revoke(known.name)}
            sure={making.revokeSure}
            now={making.revokeNow}
            act={revoke}
          />
        )}
      </td>
    )}
  </tr>
);

export function KeysPanel({ keys, changeable, reload }: Keys & { readonly reload: () => void }) {
  const may = useMay();
  const own = useContext(AccountContext)?.key_id;
  const [made, setMade] = useState('');
  const changes = changeable && may('manage');
  const revoking =
    ({ key_id: id }: Key) =>
    async () => {
      await ask(`${KEYS}/${encodeURIComponent(id)}`, { method: 'DELETE' });
      reload();
    };
  return (
    <section class="panel stack tight">
      <h2>{machine.keys}</h2>
      <Scroll label={machine.keys}>
        <table>
          <thead>
            <tr>
              {machine.keyHeads.map((head) => (
                <th key={head}>{head}</th>
              ))}
              {changes && <th>{making.end}</th>}
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <Row
                key={key.key_id}
                known={key}
                revoke={changes ? (key.key_id === own ? null : revoking(key)) : undefined}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      {made !== '' && <Made text={made} />}
      {changes ? (
        <Make
          made={(key) => {
            setMade(key);
            reload();
          }}
        />
      ) : (
        <p class="soft">
          <Marked text={machine.keysHelp} />
        </p>
      )}
    </section>
  );
}
