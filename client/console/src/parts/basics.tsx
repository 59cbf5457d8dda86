/** Small parts that all views share. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Refusal } from '../api.js';
import { msText } from '../format.js';
import { texts } from '../texts.js';

type Children = { readonly children?: ComponentChildren };

/** Text with code between backticks, as in the gateway's descriptions. */
export const Marked = ({ text }: { readonly text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
);

/** A page; `back` links to the list it belongs to, `state` is shown beside the title. */
export const Page = ({
  title,
  intro,
  back,
  state,
  children,
}: Children & {
  readonly title: string;
  readonly intro?: string | undefined;
  readonly back?: { readonly name: string; readonly to: string } | undefined;
  readonly state?: ComponentChildren;
}) => (
  <div class="stack">
    <header class="stack tight">
      {back && (
        <p>
          <a href={back.to}>{back.name}</a>
        </p>
      )}
      <div class="row">
        <h1>{title}</h1>
        {state}
      </div>
      {intro && (
        <p class="soft">
          <Marked text={intro} />
        </p>
      )}
    </header>
    {children}
  </div>
);

/** A labelled control; `children` is called with the attributes that link the control to its help. */
export function Field({
  label,
  help,
  children,
}: {
  readonly label: string;
  readonly help?: string;
  readonly children: (tied: {
    readonly id: string;
    readonly 'aria-describedby'?: string;
  }) => ComponentChildren;
}) {
  const id = useId();
  const described = help ? { 'aria-describedby': `${id}-help` } : {};
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {children({ id, ...described })}
      {help && (
        <p class="help" id={`${id}-help`}>
          <Marked text={help} />
        </p>
      )}
    </div>
  );
}

export const Check = ({
  label,
  checked,
  disabled = false,
  onChange,
}: {
  readonly label: string;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChange: (checked: boolean) => void;
}) => (
  <label class="row">
    <input
      type="checkbox"
      checked={checked}
      disabled={disabled}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    {label}
  </label>
);

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : texts.errors.unknown);

/** A failure, with advice and a retry if one makes sense. `advice` by status overrides that of the refusal. */
export function Failure({
  error,
  retry,
  advice: better = {},
}: {
  readonly error: unknown;
  readonly retry?: () => void;
  readonly advice?: Readonly<Record<number, string>>;
}) {
  if (error === undefined) return null;
  const refusal = error instanceof Refusal ? error : undefined;
  const advice = refusal
    ? (better[refusal.status] ?? refusal.advice)
    : error instanceof Error
      ? ''
      : texts.advice.unknown;
  return (
    <div class="notice bad stack tight" role="alert">
      <p>
        <Marked text={wordsOf(error)} />
      </p>
      {refusal?.problems
        .filter(({ msg }) => msg !== refusal.message)
        .map(({ loc, msg }) => (
          <p class="mono" key={`${loc.join('.')} ${msg}`}>
            {loc.join('.')}: {msg}
          </p>
        ))}
      {advice && <p class="soft">{advice}</p>}
      {retry && (
        <div>
          <button class="button" type="button" onClick={retry}>
            {texts.again}
          </button>
        </div>
      )}
    </div>
  );
}

/** Figures in a row, each below its name. */
export const FigureList = ({
  rows,
}: {
  readonly rows: readonly (readonly [name: string, value: string])[];
}) => (
  <dl class="figures">
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** The answer of an outside address, and how long it took. */
export const AnswerTag = ({
  status,
  ok,
  ms,
}: {
  readonly status: number | string | null;
  readonly ok: boolean;
  readonly ms: number;
}) => (
  <span class={`tag ${ok ? 'good' : 'bad'}`}>
    {status} · {msText(ms)}
  </span>
);

export const Empty = ({ title, children }: Children & { readonly title: string }) => (
  <div class="empty">
    <p>{title}</p>
    {children}
  </div>
);

export const Loading = () => (
  <p class="soft" role="status">
    {texts.working}
  </p>
);

/** A scrolling region for content wider than the page, such as a table; it can be reached by keyboard. */
export const Scroll = ({ label, children }: Children & { readonly label: string }) => (
  <div class="scroll" role="region" aria-label={label} tabIndex={0}>
    {children}
  </div>
);

/** Button for the next page of a list, if there is one. */
export const More = ({ more, busy }: { readonly more: (() => void) | undefined; readonly busy: boolean }) =>
  more && (
    <div>
      <button class="button" type="button" disabled={busy} onClick={more}>
        {texts.more}
      </button>
    </div>
  );
