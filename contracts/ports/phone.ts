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
  /** The address of the provider's API, where it is not the usual one. */
  readonly apiUrl: string | null;
}

/** By the names of `PHONE_CREDENTIALS`. */
export type Credentials = Readonly<Record<string, string>>;

export interface NumberSecrets {
  /** What the provider's webhooks are verified with. */
  readonly secret: string;
  /** What its API is asked with beside that. */
  readonly api?: Credentials;
}

export interface PhoneNumber extends NewPhoneNumber {
  readonly id: string;
  readonly workspaceId: string;
  /** Whether it has what the provider's API is asked with. */
  readonly placesCalls: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is absent stays, also of `api`. */
export type PhoneNumberChange = Partial<
  Pick<NewPhoneNumber, 'agentId' | 'enabled' | 'apiUrl'> & NumberSecrets
>;

export interface PhoneNumbers {
  list(workspaceId: string, page: PageRequest): Promise<Listed<PhoneNumber>>;
  read(id: string, workspaceId: string): Promise<PhoneNumber | undefined>;
  /**
   * Errors: `not_found` where there is no such agent, `conflict` where the workspace has the number already, or as many as it
   * may have.
   */
  create(number: NewPhoneNumber, secrets: NumberSecrets, workspaceId: string): Promise<PhoneNumber>;
  /** Errors: `not_found` where there is no such agent. */
  change(id: string, workspaceId: string, change: PhoneNumberChange): Promise<PhoneNumber | undefined>;
  /** Those with that number or SIP address, or that id: several where it is at several providers. */
  named(name: string, workspaceId: string): Promise<readonly PhoneNumber[]>;
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

/** Of all workspaces, for what has to know them beforehand. */
export interface AnsweredNumbers {
  /** All of that provider that somebody answers. */
  answered(
    provider: PhoneProvider,
  ): Promise<readonly { readonly number: PhoneNumber; readonly secret: string }[]>;
}

/** A number with all that its provider is asked and verified with. */
export interface OpenedNumber {
  readonly number: PhoneNumber;
  readonly secret: string;
  readonly api: Credentials;
}

/** Of all workspaces, for calls that are placed. */
export interface DiallingNumbers {
  open(id: string): Promise<OpenedNumber | undefined>;
}

/** Sessions of phone calls. */
export interface PhoneSessions {
  /** Errors: those of a session that is made with a key. */
  begin(agentId: string, workspaceId: string, leg: PhoneLeg): Promise<SessionRecord>;
}
