/** Wires telephone providers: their webhooks, placed calls and transfers. */
import { BUILTIN_DIALOGUE } from '../../../engines/chat/builtin/index.js';
import { speakable } from '../../../engines/text/speakable.js';
import { type MessageParts, Messages } from '../../agents/phone/messages.js';
import type { PhoneCalls } from '../../agents/phone/phone-calls.js';
import { phoneDialect } from '../../agents/phone/index.js';
import { Placing } from '../../agents/phone/placing.js';
import { DIALLING } from '../../agents/phone/providers.js';
import type { SipDialling } from '../../agents/phone/sip/dialling.js';
import { Transferring } from '../../agents/phone/transferring.js';
import { createStreamProofs, createStreamTokens } from '../../agents/phone/stream-tokens.js';
import { agentModels } from '../agent-models.js';
import type { TransportOptions } from './parts.js';

/** Webhooks and media streams of telephone providers; without `carried` every call is rejected, and none is placed. */
export function openPhone(
  { config, sessions, platform, keeper, clock, log }: TransportOptions,
  carried: { readonly calls: PhoneCalls; readonly transferring: Transferring } | undefined,
  sip?: SipDialling,
) {
  const calls = carried?.calls;
  const { numbers, placed, outbound } = platform;
  const common = { numbers, placed, calls, clock, log };
  const { runs } = sessions;
  const models = agentModels(config, { ...platform.ownModels, keeper }, clock);
  const modelOf: MessageParts['modelOf'] = (plan, user) => {
    const chat = models.modelOf(plan, user);
    return chat.name === BUILTIN_DIALOGUE ? undefined : chat;
  };
  const spoken = (text: string): string => speakable(text).text;
  const placing = new Placing({
    ...common,
    runs,
    messages: new Messages({ modelOf, spoken, runs, placed, clock, log }),
    outbound,
    keeper,
    dialling: DIALLING,
    ...(sip && { sip }),
  });
  const key = platform.secrets.key('phone streams');
  const [tokens, proofs] = [createStreamTokens(key), createStreamProofs(key, clock)];
  const transfers = carried && { transfers: platform.transfers, transferring: carried.transferring };
  const parts = { ...common, placing, transfers, sessions: sessions.phone, tokens, proofs };
  return { placing, dialect: phoneDialect(parts) };
}

export function transfersOf({
  config,
  sessions,
  platform,
  keeper,
  clock,
  log,
}: TransportOptions): Transferring {
  const { transfers, numbers, outbound } = platform;
  const holdSound = config.phoneHoldSound === 'on';
  const { runs } = sessions;
  return new Transferring({
    transfers,
    numbers,
    outbound,
    keeper,
    runs,
    dialling: DIALLING,
    holdSound,
    shortNumbers: platform.shortNumbers,
    clock,
    log,
  });
}
