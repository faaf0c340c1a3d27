import { join } from 'node:path';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { isOperation } from '../../../shared/http/definition/request-method.ts';
import {
  accountRead,
  adminOnly,
  admins,
  adminsAboutUser,
  adminsAmongAnyone,
  anyone,
  anyoneAboutUser,
  anyoneKnown,
  developers,
  inBrowser,
  memberChange,
  ownerChange,
  ownerOrNew,
  selfOnly,
  selfOrAdmin,
  signedIn,
  signIn,
  viewerRead,
  viewers,
} from './patterns.ts';

type Row = readonly [pattern: string, success: number];

/**
 * What every operation answers to every caller, and the status of its success. It follows from the definition of the
 * endpoint. Listed are those that decide by more than `allow` and `project`. What follows a comma is a circumstance.
 */
const special: Readonly<Record<string, Row>> = {
  createToken: [signIn, 200],
  revokeToken: [selfOnly, 200],
  createSession: [signIn, 200],
  renewSession: [inBrowser, 200],
  revokeSession: [selfOnly, 200],
  deleteTrust: [selfOnly, 200],
  // No issuer signs people in here.
  startSignIn: [anyone, 404],
  finishSignIn: [anyone, 404],
  beginDeviceSignIn: [anyone, 404],
  redeemSignIn: [anyone, 404],
  linkAccount: [signedIn, 404],
  // Nobody has a token of a run here.
  exchangeToken: [anyone, 401],
  // By their input.
  createUser: [admins, 201],
  'createUser, a guest where registration is open': [anyoneKnown, 201],
  'createUser, a viewer where registration is open': [adminsAmongAnyone, 201],
  deleteUser: [adminOnly, 200],
  checkUsername: [adminsAboutUser, 200],
  'checkUsername, where registration is open': [anyoneAboutUser, 200],
  readUserBudget: [selfOrAdmin, 200],
  readUser: [accountRead, 200],
  changePassword: [selfOrAdmin, 200],
  readProfilePicture: [accountRead, 200],
  readThumbnail: [accountRead, 200],
  putProfilePicture: [selfOrAdmin, 200],
  deleteProfilePicture: [selfOrAdmin, 200],
  'serveMlflow, reading an experiment': [viewerRead, 200],
  'serveMlflow, creating an experiment': [developers, 200],
  'serveMlflow, creating a run': [memberChange, 200],
  'serveMlflow, marking an experiment as deleted': [ownerChange, 200],
  searchExperiments: [viewerRead, 200],
  // Its experiment has ended.
  putExperimentBudget: [memberChange, 409],
  // There is no session of a link, so nobody finds one.
  openLink: [anyone, 404],
  readShared: [anyone, 404],
  readSharedBlock: [anyone, 404],
  readSharedChart: [anyone, 404],
  listSharedFiles: [anyone, 404],
  downloadSharedFile: [anyone, 404],
  createModel: [ownerOrNew, 200],
  'serveModels, whether it lives': [anyoneKnown, 200],
  'serveModels, reading a served model': [viewerRead, 200],
  'serveModels, listing the served models': [viewers, 200],
  checkTraining: [memberChange, 200],
  checkExport: [memberChange, 200],
  createExport: [memberChange, 200],
  createPruneStrategy: [ownerChange, 200],
  createQuantizeStrategy: [ownerChange, 200],
};

const endpoints = (await loadEndpoints(join(import.meta.dirname, '../../../functions'))).map(
  ({ endpoint }) => endpoint,
);

export const accessTable: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(endpoints.filter(isOperation).map((endpoint) => [endpoint.name, rowOf(endpoint)])),
  ...special,
};

function rowOf({ allow, project, path, output }: AnyEndpoint): Row {
  const isAboutOne = path.includes('{');
  const success = Number(Object.keys(output)[0]);
  if (project === 'viewer') return [viewerRead, success];
  if (project === 'developer') return [memberChange, success];
  if (project !== undefined) return [ownerChange, success];
  const patterns = {
    anyone,
    guest: signedIn,
    viewer: isAboutOne ? viewerRead : viewers,
    developer: isAboutOne ? ownerChange : developers,
    admin: isAboutOne ? adminOnly : admins,
  };
  return [patterns[allow], success];
}
