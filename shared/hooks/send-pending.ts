import type { MailTopic } from '../aws/signed/email-topic.ts';
import type { Deadline } from '../core/deadline.ts';
import { openSealed } from '../core/encryption.ts';
import type { Logger } from '../core/log.ts';
import {
  type Delivery,
  findDelivery,
  listPending,
  type PendingDelivery,
  pendingItems,
  putDelivery,
  putPending,
  removePending,
  withAttempt,
} from '../data/hooks/delivery.ts';
import { claimLane, type DeliveryLane, releaseLane, removeLane } from '../data/hooks/delivery-lane.ts';
import { disableHook, type Hook, type HookSecrets, hookPurpose, readHooks } from '../data/hooks/hook.ts';
import { findVariablesKey } from '../data/projects/variable.ts';
import { pagesOf } from '../data/table/pages-of.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import type { Resolve } from '../outgoing/receiver-address.ts';
import { mailMessage } from './formats/mail-message.ts';
import { noMail, parseMessage } from './message.ts';
import { type MessageAnswer, postMessage } from './post-webhook.ts';
import { renderMessage } from './render-message.ts';

/**
 * Send the messages of one hook that are due. Messages about one experiment go in the order of its events: as long as
 * one of them is not delivered, those after it wait. Other experiments go on.
 */
export async function sendPending(
  context: SendContext,
  lane: Pick<DeliveryLane, 'hook_id' | 'project_id'>,
  hasTime: Deadline,
): Promise<void> {
  const { records, newId, now } = context;
  const claimed = await claimLane(records, lane.hook_id, newId(), now());
  if (claimed === undefined) return;
  const { hooks } = await readHooks(records, lane.project_id);
  const hook = hooks.find(({ hook_id }) => hook_id === lane.hook_id);
  if (hook === undefined) return dropAll(context, claimed);
  const pass = new LanePass(context, hook, claimed);
  await pass.run(hasTime);
  const { next_at, failures, isEmpty } = pass.outcome();
  if (isEmpty && (await removeLane(records, claimed))) return;
  await releaseLane(records, claimed, { next_at, failures });
}

export interface SendContext {
  records: TableWriter<'records'>;
  /** Table with the key that decrypts the secrets of hooks. */
  accounts: TableReader<'accounts'>;
  /** Receivers that may have any address: `HOOK_HOSTS`. */
  admitted: readonly string[];
  /** Topic of mails; undefined if the deployment sends none. */
  mail: MailTopic | undefined;
  /** Default: the resolver of the system. */
  resolve?: Resolve | undefined;
  now(): Date;
  newId(): string;
  log: Logger;
}

/** The hook was deleted: nobody gets its messages. */
async function dropAll({ records }: SendContext, lane: DeliveryLane): Promise<void> {
  for (;;) {
    const { items } = await pendingItems(records, lane.hook_id, undefined);
    if (items.length === 0) break;
    await records.write(...items.slice(0, 100).map(({ pk, sk }) => ({ delete: { pk, sk } })));
  }
  await removeLane(records, lane);
}

/** Messages in a row that fail before a receiver counts as away, and the others wait. */
const maxFailures = 4;

/** Messages to one receiver at the same time. */
const parallel = 4;

class LanePass {
  readonly #context: SendContext;
  readonly #hook: Hook;
  readonly #lane: DeliveryLane;
  #secrets: HookSecrets | undefined;
  #sent = 0;
  #failed = 0;
  #inARow = 0;
  #askedToWait = 0;
  #isEmpty = true;
  #isDisabled: boolean;
  #nextAt: number | undefined;

  constructor(context: SendContext, hook: Hook, lane: DeliveryLane) {
    this.#context = context;
    this.#hook = hook;
    this.#lane = lane;
    this.#isDisabled = hook.disabled !== null;
  }

  async run(hasTime: Deadline): Promise<void> {
    const { records } = this.#context;
    const blocked = new Set<string>();
    for await (const page of pagesOf((after) => listPending(records, this.#hook.hook_id, after))) {
      const bySubject = [...Map.groupBy(page.items, ({ subject }) => subject).values()];
      if (bySubject.length > 0) this.#isEmpty = false;
      for (let from = 0; from < bySubject.length; from += parallel) {
        if (!this.#goesOn(hasTime)) return;
        await Promise.all(
          bySubject.slice(from, from + parallel).map((rows) => this.#sendInOrder(rows, blocked, hasTime)),
        );
      }
    }
    // All rows that were there have been delivered or have died.
    if (this.#nextAt === undefined) this.#isEmpty = true;
  }

  /** Whether to send more: there is time, and the receiver is not away. */
  #goesOn(hasTime: Deadline): boolean {
    const isAway = this.#inARow >= maxFailures && !this.#isDisabled;
    if (hasTime() && !isAway) return true;
    this.#wait(this.#context.now().getTime() + (isAway ? backOff(this.#lane.failures) : 0));
    return false;
  }

  #wait(until: number): void {
    this.#nextAt = Math.min(this.#nextAt ?? until, until);
  }

  async #sendInOrder(
    rows: readonly PendingDelivery[],
    blocked: Set<string>,
    hasTime: Deadline,
  ): Promise<void> {
    for (const row of rows) {
      if (blocked.has(row.subject)) return;
      const due = Date.parse(row.due_at);
      const isDelivered =
        due <= this.#context.now().getTime() && this.#goesOn(hasTime) ? await this.#send(row) : false;
      if (isDelivered) continue;
      blocked.add(row.subject);
      if (due > this.#context.now().getTime()) this.#wait(due);
      return;
    }
  }

  /** @returns whether the messages after it may be sent: it was delivered, or it died */
  async #send(row: PendingDelivery): Promise<boolean> {
    const { records, now } = this.#context;
    const { hook_id } = this.#hook;
    const { project_id } = this.#lane;
    const delivery = await findDelivery(records, { project_id, hook_id, delivery_id: row.delivery_id });
    if (delivery === undefined) {
      await records.write(removePending(hook_id, row));
      return true;
    }
    if (this.#isDisabled) return this.#conclude(row, delivery, now(), disabledAnswer(this.#hook), 'dead');
    const at = now();
    const answer = await this.#post(delivery, at);
    if (answer.error === null) {
      this.#sent += 1;
      this.#inARow = 0;
      return this.#conclude(row, delivery, at, answer, 'delivered');
    }
    this.#failed += 1;
    this.#inARow += 1;
    if (answer.status === 410) {
      this.#isDisabled = true;
      await this.#disable(at);
      return this.#conclude(row, delivery, at, answer, 'dead');
    }
    if (now().getTime() - Date.parse(row.since) >= retryHours * 3_600_000)
      return this.#conclude(row, delivery, at, answer, 'dead');
    return this.#tryLater(row, delivery, at, answer);
  }

  async #post(delivery: Delivery, at: Date): Promise<MessageAnswer> {
    const { accounts, admitted, mail, resolve, log } = this.#context;
    const { hook_id, format } = this.#hook;
    const { project_id } = this.#lane;
    try {
      const message = parseMessage(delivery.message);
      if (format === 'mail') {
        if (mail === undefined)
          return { status: null, error: `The message ${noMail}.`, retryAfter: undefined };
        const { subject, text } = mailMessage(message);
        return await postMessage(await mail.sign(subject, text), { admitted, resolve });
      }
      this.#secrets ??= await this.#openSecrets(accounts, project_id);
      const given = { id: delivery.delivery_id, message, now: at };
      return await postMessage(renderMessage({ format }, this.#secrets, given), { admitted, resolve });
    } catch {
      log.error('hook-unreadable', { hook_id });
      return { status: null, error: 'The hook cannot be decrypted. Set it again.', retryAfter: undefined };
    }
  }

  async #openSecrets(accounts: TableReader<'accounts'>, project_id: string): Promise<HookSecrets> {
    const key = await findVariablesKey(accounts);
    if (key === undefined) throw new Error('there is no key');
    return JSON.parse(openSealed(key, this.#hook.sealed, hookPurpose(project_id, this.#hook.hook_id)));
  }

  async #disable(now: Date): Promise<void> {
    const { records } = this.#context;
    const ids = { project_id: this.#lane.project_id, hook_id: this.#hook.hook_id };
    await retryOnConflict(() => disableHook(records, ids, goneReason, now));
  }

  async #conclude(
    row: PendingDelivery,
    delivery: Delivery,
    at: Date,
    answer: MessageAnswer,
    status: 'delivered' | 'dead',
  ): Promise<true> {
    const { records } = this.#context;
    const ended = withAttempt(delivery, this.#attempt(at, answer), status);
    await records.write(putDelivery(ended), removePending(this.#hook.hook_id, row));
    return true;
  }

  async #tryLater(row: PendingDelivery, delivery: Delivery, at: Date, answer: MessageAnswer): Promise<false> {
    const { records, now } = this.#context;
    const asked = Math.min(answer.retryAfter ?? 0, 3600) * 1000;
    this.#askedToWait = Math.max(this.#askedToWait, asked);
    const due = now().getTime() + Math.max(backOff(row.tries), asked);
    this.#wait(due);
    const tried = { ...row, tries: row.tries + 1, due_at: new Date(due).toISOString() };
    await records.write(
      putDelivery(withAttempt(delivery, this.#attempt(at, answer), 'pending')),
      putPending(this.#hook.hook_id, tried),
    );
    return false;
  }

  #attempt(at: Date, { status, error }: MessageAnswer) {
    const seconds = Math.max(0, this.#context.now().getTime() - at.getTime()) / 1000;
    return { at: at.toISOString(), status, seconds, error };
  }

  outcome(): { next_at: string; failures: number; isEmpty: boolean } {
    const now = this.#context.now().getTime();
    const isAway = this.#sent === 0 && this.#failed > 0;
    const failures = isAway ? this.#lane.failures + 1 : this.#sent > 0 ? 0 : this.#lane.failures;
    const until = Math.max(this.#nextAt ?? now, now + this.#askedToWait);
    return { next_at: new Date(until).toISOString(), failures, isEmpty: this.#isEmpty };
  }
}

const goneReason = 'The receiver answered 410 Gone. Set the hook again to use it.';

const disabledAnswer = ({ disabled }: Hook): MessageAnswer => ({
  status: null,
  error: `The hook is disabled: ${disabled}`,
  retryAfter: undefined,
});

/** Hours for which a message is tried again. */
const retryHours = 24;

/** Milliseconds before the next attempt, by the number of those that failed before. */
function backOff(failures: number): number {
  return (steps[failures] ?? 3600) * 1000;
}

const steps = [5, 30, 120, 300, 600, 1800];
