/** The arguments that a tool declares (docs/contract/platform.md 6.5): by default required texts. */
import { LIMITS } from '../limits.js';
import { ARGUMENT_TYPES, type ArgumentType, typedValue } from '../tools/argument-values.js';
import { leaf, nullable, strict, text } from './shapes.js';
import { type Static, Type } from './type.js';

const limits = LIMITS.tool;

const Choices = Type.Array(
  Type.Unsafe<string | number>({ type: ['string', 'number'], maxLength: limits.argumentChoice }),
  {
    maxItems: limits.argumentChoices,
    description: 'The values that it may have, of its type; null for any. Not for booleans.',
  },
);

const ARGUMENT = {
  name: text(limits.argumentName),
  description: text(limits.argumentDescription),
  required: Type.Boolean({
    default: true,
    description: 'Whether the tool is only called with it. Without a value it is empty, or null in JSON.',
  }),
  type: Type.Enum([...ARGUMENT_TYPES], {
    default: 'string',
    description:
      'What the model is told. Texts that are a number or a boolean are taken for one; others are refused.',
  }),
};

export const ToolArgument = Type.Object({ ...ARGUMENT, enum: nullable(Choices) });
export type ToolArgument = Static<typeof ToolArgument>;

export const ArgumentChange = strict({
  name: ARGUMENT.name,
  description: Type.Optional(ARGUMENT.description),
  required: Type.Optional(ARGUMENT.required),
  type: Type.Optional(ARGUMENT.type),
  enum: leaf(Choices),
});
export type ArgumentChange = Static<typeof ArgumentChange>;

/** In the argument's type where they are of it; none if there are none. */
function choicesOf(type: ArgumentType, choices: ArgumentChange['enum'] = null): ToolArgument['enum'] {
  if (!choices || choices.length === 0) return null;
  return choices.map((choice) => {
    const value = type === 'string' ? String(choice) : typedValue(type, choice);
    return typeof value === 'number' || typeof value === 'string' ? value : choice;
  });
}

/** With the defaults of fields that a client, or an older gateway, has left out. */
export const completeArgument = ({
  description = '',
  required = true,
  type = 'string',
  enum: choices,
  ...rest
}: ArgumentChange): ToolArgument => ({
  ...rest,
  ...{ description, required, type },
  enum: choicesOf(type, choices),
});
