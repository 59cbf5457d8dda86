/**
 * Post-call events, as the gateway's /openapi.json describes them (`webhooks`). Events and members that are not here may be added: ignore
 * those that you do not know.
 */

export interface EventSession {
  readonly id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly config_hash: string;
  readonly branch_id: string;
  readonly source: string;
  readonly status: string;
  readonly conversation_started_at: string | null;
  readonly conversation_ended_at: string | null;
  readonly duration_seconds: number | null;
  /** Empty if the session was created without one. */
  readonly end_user_id: string;
  /** `outbound` of placed calls, else `inbound`. */
  readonly direction: string;
  /** How a placed call came out: `answered`, `busy`, `no_answer`, `failed`; null while it rings, and of everything else. */
  readonly dial_status: string | null;
  /** Of answered ones: `human`, `voicemail`, `unknown`. */
  readonly answered_by: string | null;
  readonly batch_call_id: null;
  /** As the session was created with. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface EventUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly tokens_estimated: boolean;
  /** The same tokens by the language model that answered; absent in events of earlier releases. */
  readonly models?: readonly {
    readonly model: string;
    readonly input_tokens: number;
    readonly output_tokens: number;
  }[];
  readonly characters: number;
  readonly recognised_seconds: number;
}

export interface EventTurn {
  readonly number: number;
  readonly turn_id: number;
  readonly cause: string;
  readonly at: string;
  readonly latency_ms: number | null;
  readonly error: string | null;
  readonly usage: EventUsage;
  readonly [more: string]: unknown;
}

interface EventReport {
  /** Without words; the last 200. */
  readonly turns: readonly EventTurn[];
  readonly turns_total: number;
  readonly usage: EventUsage & { readonly call_seconds: number | null };
  readonly cost: { readonly currency: string; readonly total: number } | null;
}

interface Identified {
  /** Names the event: the same in every attempt and at every webhook. */
  readonly event_id: string;
}

export interface CallEndedEvent extends Identified, EventReport {
  readonly event: 'call.ended';
  readonly session: EventSession;
  /** An open set: `hangup`, `timeout`, `ended_by_api`, `transferred`, `error` … */
  readonly ended_reason: string;
  /** Only in a test of the webhook. */
  readonly test?: true;
}

export interface CallAnalyzedEvent extends Identified, EventReport {
  readonly event: 'call.analyzed';
  readonly session: EventSession;
  readonly analysis: {
    readonly status: 'completed' | 'skipped' | 'error';
    readonly summary: string | null;
    readonly data: readonly {
      readonly name: string;
      readonly type: string;
      readonly value: unknown;
      readonly rationale: string;
    }[];
    readonly criteria_results: readonly {
      readonly name: string;
      readonly result: string;
      readonly rationale: string;
    }[];
    readonly finished_at: string;
    readonly error: string | null;
    readonly reason: string | null;
  };
}

export interface DialFinishedEvent extends Identified {
  readonly event: 'phone_call.dial_finished';
  readonly dial_status: string;
  readonly answered_by: string | null;
  readonly session: EventSession;
}

export interface PhoneCallEndedEvent extends Identified {
  readonly event: 'phone_call.ended';
  readonly call: {
    readonly call_id: string;
    readonly session_id: string;
    readonly agent_id: string;
    readonly phone_number_id: string | null;
    readonly provider: string;
    readonly from: string;
    readonly to: string;
    readonly state: string;
    readonly reason: string | null;
    readonly answered_by: string | null;
    readonly max_ring_seconds: number;
    readonly voicemail: { readonly action: string; readonly message: string | null } | null;
    readonly created_at: string;
    readonly answered_at: string | null;
    readonly ended_at: string | null;
  };
}

export type WebhookEvent = CallEndedEvent | CallAnalyzedEvent | DialFinishedEvent | PhoneCallEndedEvent;
