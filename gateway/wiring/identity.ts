/** Callers of one gateway and their limits: keys, short-lived keys and tokens, admission, quotas. */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { createAdmission } from '../../engines/admission.js';
import { createAccounts } from '../../storage/accounts.js';
import { createClientSecrets } from '../../storage/keys/client-secrets.js';
import type { Database } from '../../storage/postgres/database.js';
import { createKeyAuthority } from '../../storage/keys/keys.js';
import { createSlotLeases } from '../../storage/leases.js';
import { createSingleUseTokens } from '../../storage/keys/single-use-tokens.js';
import { createUsageStore, type Quotas } from '../../storage/usage.js';
import { createWallet } from '../../storage/wallet.js';
import type { Config } from '../config.js';
import type { Metrics } from '../server/system/metrics.js';

export interface IdentityOptions {
  readonly config: Config;
  readonly database: Database;
  /** Unique among all live processes. */
  readonly processId: string;
  readonly clock: Clock;
  readonly log: Log;
}

function quotasOf(config: Config): Quotas {
  const {
    quotaCharacters,
    quotaTranscriptionSeconds: transcribed,
    quotaConversationSeconds: talked,
  } = config;
  return {
    ...(quotaCharacters === undefined ? {} : { synthesis_characters: quotaCharacters }),
    ...(transcribed === undefined ? {} : { transcription_ms: transcribed * 1000 }),
    ...(talked === undefined ? {} : { conversation_ms: talked * 1000 }),
  };
}

export async function openIdentity({ config, database, processId, clock, log }: IdentityOptions) {
  const { concurrency: defaultLimit, callsPerWorkspace = null } = config;
  const quotas = quotasOf(config);
  const { asked, events } = database;
  const callers = { sql: database.callers, events };
  const keys = await createKeyAuthority({ database: callers, clock, log });
  const clientSecrets = createClientSecrets({ database: { ...callers, asked }, clock, log });
  const leases = createSlotLeases({ ...database, processId, defaultLimit });
  const usage = createUsageStore(database.sql, quotas);
  const admission = createAdmission({ leases, usage, clock, log, defaultLimit });
  return {
    keys,
    clientSecrets,
    tokens: createSingleUseTokens({ database: callers, log }),
    admission,
    wallet: createWallet(asked, quotas),
    accounts: createAccounts({ sql: asked, quotas, defaultLimit, callsPerWorkspace }),
    addGauges(metrics: Metrics): void {
      const state = () => admission.state();
      metrics.gauge(
        'speech_jobs_running',
        'Synthesis and transcription jobs of requests and sockets that run',
        () => state().used,
      );
      metrics.gauge(
        'speech_slots_held',
        'Concurrency slots that gateway processes lease',
        () => state().held,
      );
    },
    async stop(): Promise<void> {
      keys.stop();
      clientSecrets.stop();
      await admission.stop();
    },
  };
}
