import { within } from '../../core/needs.ts';
import { appendAccounts, appendRecords, readAccounts, readRecords, writeAccounts } from '../table/needs.ts';

// The patterns of the keys in `user.ts`, `token.ts`, `session.ts`, `picture.ts`, `sign-in-throttle.ts`, `idempotency.ts`,
// `ci-trust.ts`, `issuer.ts`, `identity.ts` and `closed-account.ts`. The key of secret variables is none of them: only needs of `projects/variable.ts` reach it.
const users = ['USERS', 'USERNAME#*'];
const credentials = 'USER#*';
const everyone = [
  ...users,
  credentials,
  'PASSWORD#*',
  'POPULATION',
  'SIGN-IN#*',
  'IDEMPOTENCY#*',
  'CLOSED_ACCOUNTS*',
];

const trusts = 'CI_TRUSTS#*';
const issuers = 'ISSUER#*';
const identities = 'IDENTITY#*';
const signInKey = 'SIGN_IN_KEY';

// Marked as pure, so a bundle contains only the clients that it needs.
/** Reads of users and their names. */
export const readUsers = /* @__PURE__ */ within(readAccounts, { partitions: users });
/** Reads of users with their tokens, sessions and pictures, but no passwords. */
export const readCredentials = /* @__PURE__ */ within(readAccounts, { partitions: [...users, credentials] });
/** The same, and writes of them, with counts of attempts and answers that are kept for repeated requests. */
export const writeCredentials = /* @__PURE__ */ within(writeAccounts, {
  partitions: [...users, credentials, 'SIGN-IN#*', 'IDEMPOTENCY#*'],
});
/** Reads and writes of users and their number. */
export const writeUsers = /* @__PURE__ */ within(writeAccounts, { partitions: [...users, 'POPULATION'] });
/** Reads and writes of trusts in CI systems, with the tokens that they have issued. */
export const writeTrusts = /* @__PURE__ */ within(writeAccounts, {
  partitions: [...users, credentials, trusts],
});
/** The same, with the keys of issuers and their used tokens. */
export const exchangeTokens = /* @__PURE__ */ within(writeAccounts, {
  partitions: [...users, credentials, trusts, issuers, 'ASSERTION#*'],
});
/** The key that seals what a browser keeps during a sign-in at an issuer. */
export const keepSignIns = /* @__PURE__ */ within(writeAccounts, { partitions: [signInKey] });
/** The same, with what a sign-in at an issuer ends with: a person, their account and session, without passwords. */
export const signInPersons = /* @__PURE__ */ within(writeAccounts, {
  partitions: [...users, credentials, 'POPULATION', identities, signInKey, issuers],
});
/** Reads and writes of what closed accounts have left. */
export const clearAccounts = /* @__PURE__ */ within(writeAccounts, {
  partitions: [credentials, trusts, identities, 'CLOSED_ACCOUNTS*'],
});
const audit = { partitions: ['AUDIT#*'] };
/** Reads of the audit records of projects, and of accounts. */
export const readProjectAudit = /* @__PURE__ */ within(readRecords, audit);
export const readAccountAudit = /* @__PURE__ */ within(readAccounts, audit);
/** Appends of audit records, for roles that may write only other partitions of a table. */
export const auditAppends = {
  accounts: /* @__PURE__ */ within(appendAccounts, audit),
  records: /* @__PURE__ */ within(appendRecords, audit),
};
/** Reads and writes of all parts of accounts, passwords included. */
export const writePasswords = /* @__PURE__ */ within(writeAccounts, { partitions: everyone });
/** The same, with the trusts and identities of a user who is deleted. */
export const removeAccounts = /* @__PURE__ */ within(writeAccounts, {
  partitions: [...everyone, trusts, identities],
});
