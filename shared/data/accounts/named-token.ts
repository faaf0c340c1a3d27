import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { Key, TableWriter } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import {
  isAlive,
  issuedKey,
  type NewToken,
  parseIssued,
  prepareToken,
  type Token,
  type TokenOwner,
} from './token.ts';
import { userPartition } from './user.ts';

/** Most tokens for scripts that one user can have at a time. */
export const maxNamedTokens = 50;

const namedTokens = recordType('named-tokens', () =>
  z.object({
    /** Every token for scripts that may be good; those that are not any more are weeded out when there is no room. */
    token_ids: z.array(Ulid).max(maxNamedTokens),
    version: z.number().int(),
  }),
);

const listOfTokens = new WriteLabel('list of named tokens');

const namedTokensKey = (user_id: string): Key => ({ pk: userPartition(user_id), sk: 'NAMED_TOKENS' });

/** Those of these tokens that are good. */
async function aliveOf(
  accounts: TableWriter<'accounts'>,
  owner: TokenOwner,
  token_ids: readonly string[],
  now: Date,
): Promise<string[]> {
  const items = await accounts.batchGet(token_ids.map((token_id) => issuedKey(owner.user_id, token_id)));
  return token_ids.filter((_, index) => {
    const item = items[index];
    return item !== undefined && isAlive(parseIssued(item), owner, now);
  });
}

/**
 * Issues a token for scripts; only this answer ever holds its secret. Answers undefined where the owner has as many as
 * there can be.
 * @throws ConditionFailedError once the owner is gone or has other credentials
 * @throws ServiceError `conflict` when other changes keep coming between
 */
export async function issueNamedToken(
  accounts: TableWriter<'accounts'>,
  owner: TokenOwner,
  options: NewToken & { name: string },
): Promise<{ bearer: string; token: Token } | undefined> {
  const key = namedTokensKey(owner.user_id);
  const issue = async () => {
    const item = await accounts.get(key);
    const { token_ids, version } =
      item === undefined ? { token_ids: [], version: 0 } : namedTokens.parse(item);
    const kept =
      token_ids.length < maxNamedTokens ? token_ids : await aliveOf(accounts, owner, token_ids, options.now);
    if (kept.length >= maxNamedTokens) return undefined;
    const { bearer, token, writes } = prepareToken(owner, options);
    const put = namedTokens.item(key, { token_ids: [...kept, token.token_id], version: version + 1 });
    const condition = version === 0 ? { exists: false } : { equals: { version } };
    await accounts.write(...writes, listOfTokens.on({ put, if: condition }));
    return { bearer, token };
  };
  return retryOnConflict(issue, { isConflict: (error) => error.isOnly(listOfTokens) });
}
