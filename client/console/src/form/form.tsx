/** Forms built from the gateway's own schemas: one control for each leaf, with its bounds, help and problems. */
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useId, useState } from 'preact/hooks';
import type { Problem } from '../api.js';
import { spaced } from '../format.js';
import { Check, Marked } from '../parts/basics.js';
import { texts } from '../texts.js';
import { emptyOf, isNullable, kindOf, type Kind, type Schema } from './schema.js';
import { helpOf, LABELS, optionName } from './words.js';

const { form } = texts;

export type Path = readonly (string | number)[];

/** A control that replaces the schema's own, such as one that shows names instead of ids. */
export type Control = (props: NodeProps) => ComponentChildren;

interface FormParts {
  readonly problems: readonly Problem[];
  readonly disabled: boolean;
  /** Controls by path, with `*` for positions in lists. */
  readonly controls: Readonly<Record<string, Control>>;
}

export const FormContext = createContext<FormParts>({ problems: [], disabled: false, controls: {} });

export interface NodeProps {
  readonly schema: Schema;
  readonly path: Path;
  readonly value: unknown;
  readonly change: (value: unknown) => void;
}

const LONG_TEXT = 256;

/** End of the names of id fields; labels leave it out, since people pick names. */
const ID = /_id(s?)$/;

/** End of the names of numbers: what they are so many of. */
const UNIT = /_(ms|seconds|db)$/;

/** Label of a field: its own, or `max_duration_seconds` as “Max duration, in seconds”, `tool_ids` as “Tools”; a position in a list by the list's name. */
export const labelOf = (path: Path): string => {
  const last = path.at(-1) ?? '';
  if (typeof last === 'number') return `${labelOf(path.slice(0, -1))} ${last + 1}`;
  const known = LABELS[patternOf(path)] ?? LABELS[last];
  if (known !== undefined) return known;
  const unit = UNIT.exec(last)?.[1] ?? '';
  const named = unit === '' ? last.replace(ID, '$1') : last.replace(UNIT, '');
  const name = [spaced(named), form.units[unit]].filter(Boolean).join(', ');
  return name.charAt(0).toUpperCase() + name.slice(1);
};

/** The field of a value; that of its list, if it is in one. */
const fieldOf = (path: Path): string => String(path.findLast((part) => typeof part === 'string') ?? '');

/** A path with `*` for positions in lists. */
export const patternOf = (path: Path): string =>
  path.map((part) => (typeof part === 'number' ? '*' : part)).join('.');

function useProblem(path: Path): string | undefined {
  const { problems } = useContext(FormContext);
  const place = path.join('.');
  return problems.find(({ loc }) => loc.join('.') === place)?.msg;
}

function boundsOf({ minimum, maximum, maxLength, pattern }: Schema): string {
  if (minimum !== undefined || maximum !== undefined) return form.range(minimum, maximum);
  if (pattern) return form.pattern(pattern);
  return maxLength !== undefined && maxLength >= LONG_TEXT ? form.characters(maxLength) : '';
}

type Tied = {
  readonly id: string;
  readonly disabled: boolean;
  readonly 'aria-invalid'?: 'true';
  readonly 'aria-describedby'?: string;
};

/** A control with its label above and its help and problem below, all linked to it for screen readers. */
export function Labelled({
  schema,
  path,
  bounds = boundsOf(schema),
  children,
}: Pick<NodeProps, 'schema' | 'path'> & {
  readonly bounds?: string;
  readonly children: (tied: Tied) => ComponentChildren;
}) {
  const id = useId();
  const { disabled } = useContext(FormContext);
  const problem = useProblem(path);
  const help = [helpAt(path, schema), bounds].filter(Boolean).join(' ');
  const described = help || problem ? { 'aria-describedby': `${id}-help` } : {};
  return (
    <div class={`field ${sizeOf(schema, path)}`}>
      <label class="label" for={id}>
        {labelOf(path)}
      </label>
      {children({ id, disabled, ...described, ...(problem && { 'aria-invalid': 'true' as const }) })}
      {(help || problem) && (
        <div id={`${id}-help`}>
          {problem && <p class="problem">{problem}</p>}
          {help && <Help text={help} />}
        </div>
      )}
    </div>
  );
}

const Help = ({ text }: { readonly text: string }) =>
  text === '' ? null : (
    <p class="help">
      <Marked text={text} />
    </p>
  );

const helpAt = (path: Path, { description }: Schema): string => helpOf(String(path.at(-1)), description);

const isLong = ({ maxLength = 0 }: Schema): boolean => maxLength > LONG_TEXT;

/** Options of more characters are cut off in a column of usual width. */
const LONG_OPTION = 26;

/** How much room a field needs. */
function sizeOf(schema: Schema, path: Path): 'wide' | 'broad' | '' {
  const kind = kindOf(schema);
  if (kind === 'text' && isLong(schema)) return 'wide';
  const options = (schema.enum ?? []).filter((option) => option !== null);
  const names = options.map((option) => optionName(String(path.at(-1)), option));
  return kind === 'choice' && names.some(({ length }) => length > LONG_OPTION) ? 'broad' : '';
}

/** Whether the field has one line, however long its text may be. */
const isLine = (path: Path): boolean => path.at(-1) === 'url';

const Text = ({ schema, path, value, change }: NodeProps) => {
  const text = typeof value === 'string' ? value : '';
  const typed = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
    change(currentTarget.value === '' && isNullable(schema) && value === null ? null : currentTarget.value);
  return (
    <Labelled schema={schema} path={path}>
      {(tied) =>
        isLong(schema) && !isLine(path) ? (
          <textarea {...tied} rows={path.at(-1) === 'system_prompt' ? 12 : 3} value={text} onInput={typed} />
        ) : (
          <input {...tied} value={text} onInput={typed} />
        )
      }
    </Labelled>
  );
};

const Whole = ({ schema, path, value, change }: NodeProps) => (
  <Labelled schema={schema} path={path}>
    {(tied) => (
      <input
        {...tied}
        type="number"
        min={schema.minimum}
        max={schema.maximum}
        value={String(value ?? '')}
        onInput={({ currentTarget }) =>
          change(currentTarget.value === '' ? null : Number(currentTarget.value))
        }
      />
    )}
  </Labelled>
);

const Choice = ({ schema, path, value, change }: NodeProps) => (
  <Labelled schema={schema} path={path}>
    {(tied) => (
      <select
        {...tied}
        value={String(value ?? '')}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      >
        {(schema.enum ?? []).map(
          (option) =>
            option !== null && (
              <option key={option} value={option}>
                {optionName(fieldOf(path), option)}
              </option>
            ),
        )}
      </select>
    )}
  </Labelled>
);

const Tick = ({ schema, path, value, change }: NodeProps) => {
  const { disabled } = useContext(FormContext);
  const problem = useProblem(path);
  return (
    <div class="field">
      <Check label={labelOf(path)} checked={value === true} disabled={disabled} onChange={change} />
      <Help text={helpAt(path, schema)} />
      {problem && <p class="problem">{problem}</p>}
    </div>
  );
};

const isValues = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a JSON object; undefined if the text is not one. */
function valuesIn(text: string): unknown {
  try {
    const value = JSON.parse(text === '' ? '{}' : text) as unknown;
    return isValues(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An object with arbitrary names, edited as JSON. Text that is not valid yet stays as typed and changes nothing. */
const Values = ({ schema, path, value, change }: NodeProps) => {
  const [text, setText] = useState(isValues(value) ? JSON.stringify(value, null, 2) : '');
  const isWrong = valuesIn(text) === undefined;
  const typed = (next: string) => {
    setText(next);
    const values = valuesIn(next);
    if (values !== undefined) change(values);
  };
  return (
    <Labelled schema={schema} path={path}>
      {(tied) => (
        <>
          <textarea
            {...tied}
            class="mono"
            rows={2}
            placeholder="{}"
            value={text}
            onInput={({ currentTarget }) => typed(currentTarget.value)}
          />
          {isWrong && <p class="problem">{form.noValues}</p>}
        </>
      )}
    </Labelled>
  );
};

type Fields = Readonly<Record<string, unknown>>;

/** Fields of every type. */
const COMMON = ['type', 'name'];

/** Whether an object of this type has the field; without a table of types, it has all fields of its schema. */
function hasField({ 'x-fields': table }: Schema, { type }: Fields, name: string): boolean {
  return !table || COMMON.includes(name) || (table[String(type)] ?? []).includes(name);
}

/** Sets a field; a change of type drops the fields of the old type. */
function withField(schema: Schema, before: Fields, name: string, value: unknown): Fields {
  const object = { ...before, [name]: value };
  return Object.fromEntries(Object.entries(object).filter(([each]) => hasField(schema, object, each)));
}

/** The fields of an object; a nested object has a frame and a name. */
export const Parts = ({ schema, path, value, change }: NodeProps) => {
  const object = (value ?? {}) as Fields;
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(
        ([name, part]) =>
          !part.readOnly &&
          name !== 'has_secret' &&
          hasField(schema, object, name) && (
            <Node
              key={name}
              schema={part}
              path={[...path, name]}
              value={object[name]}
              change={(next) => change(withField(schema, object, name, next))}
            />
          ),
      )}
    </>
  );
};

const Group = (props: NodeProps) => (
  <fieldset class="group wide">
    <legend>{labelOf(props.path)}</legend>
    <div class="fields">
      <Parts {...props} />
    </div>
  </fieldset>
);

const List = ({ schema, path, value, change }: NodeProps) => {
  const { disabled } = useContext(FormContext);
  const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const item = schema.items ?? {};
  const problem = useProblem(path);
  const name = labelOf(path);
  return (
    <fieldset class="group wide">
      <legend>{name}</legend>
      <Help text={helpAt(path, schema)} />
      {problem && <p class="problem">{problem}</p>}
      {items.map((each, index) => (
        <div class="item" key={index}>
          <div class="fields grow">
            <Node
              schema={item}
              path={[...path, index]}
              value={each}
              change={(next) => change(items.map((old, at) => (at === index ? next : old)))}
            />
          </div>
          <button
            class="button"
            type="button"
            disabled={disabled}
            aria-label={form.removeItem(name, index + 1)}
            onClick={() => change(items.filter((_, at) => at !== index))}
          >
            {form.remove}
          </button>
        </div>
      ))}
      {items.length < (schema.maxItems ?? Infinity) && (
        <div>
          <button
            class="button"
            type="button"
            disabled={disabled}
            aria-label={form.addTo(name)}
            onClick={() => change([...items, emptyOf(item)])}
          >
            {form.add}
          </button>
        </div>
      )}
    </fieldset>
  );
};

const NODES: Readonly<Record<Kind, Control>> = {
  object: (props) => (typeof props.path.at(-1) === 'number' ? <Parts {...props} /> : <Group {...props} />),
  values: (props) => <Values {...props} />,
  list: (props) => <List {...props} />,
  choice: (props) => <Choice {...props} />,
  check: (props) => <Tick {...props} />,
  number: (props) => <Whole {...props} />,
  text: (props) => <Text {...props} />,
};

export function Node(props: NodeProps) {
  const { controls } = useContext(FormContext);
  const Shown = controls[patternOf(props.path)] ?? NODES[kindOf(props.schema)];
  return <Shown {...props} />;
}
