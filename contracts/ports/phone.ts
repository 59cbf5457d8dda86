/** Phone numbers (docs/contract/platform.md 6.13): as their workspace sees them, and as calls come in. */
import type { PhoneLeg, PhoneProvider } from '../phone.js';
import type { Listed, PageRequest } from './page.js';
import type { SessionRecord } from './sessions.js';

export interface NewPhoneNumber {
  readonly provider: PhoneProvider;
  /** As `phoneAddress` writes it. */
  readonly address: string;
  readonly agentId: string | null;
  readonly enabled: boolean;
}

export interface PhoneNumber extends NewPhoneNumber {
  readonly id: string;
  readonly workspaceId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is absent stays. */
export interface PhoneNumberChange extends Partial<Pick<NewPhoneNumber, 'agentId' | 'enabled'>> {
  readonly secret?: string;
}

export interface PhoneNumbers {
  list(workspaceId: string, page: PageRequest): Promise<Listed<PhoneNumber>>;
  read(id: string, workspaceId: string): Promise<PhoneNumber | undefined>;
  /**
   * `secret`: what the provider's webhooks are verified with. Errors: `not_found` where there is no such agent, `conflict`
   * where the workspace has the number already, or as many as it may have.
   */
  create(number: NewPhoneNumber, secret: string, workspaceId: string): Promise<PhoneNumber>;
  /** Errors: `not_found` where there is no such agent. */
  change(id: string, workspaceId: string, change: PhoneNumberChange): Promise<PhoneNumber | undefined>;
  /** Calls that go on stay. */
  remove(id: string, workspaceId: string): Promise<boolean>;
}

/** Of all workspaces, for the provider's webhooks. */
export interface DialledNumbers {
  /** Several where workspaces share a number: the signature says whose a call is. */
  find(
    provider: PhoneProvider,
    address: string,
  ): Promise<readonly { readonly number: PhoneNumber; readonly secret: string }[]>;
  /** Notes that the provider has asked about the call. False where it had already. */
  note(numberId: string, callId: string): Promise<boolean>;
}

/** Sessions of phone calls. */
export interface PhoneSessions {
  /** Errors: those of a session that is made with a key. */
  begin(agentId: string, workspaceId: string, leg: PhoneLeg): Promise<SessionRecord>;
}
