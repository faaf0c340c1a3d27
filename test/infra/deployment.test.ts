// One file, so that the functions and the CDK are loaded once for all of these.
import './deployment/batch.ts';
import './deployment/hook-mail.ts';
import './deployment/idle-cost.ts';
import './deployment/nag.ts';
import './deployment/permissions.ts';
import './deployment/redeploy.ts';
import './deployment/room.ts';
import './deployment/routes.ts';
import './deployment/stacks.ts';
import './deployment/surroundings.ts';
import './deployment/timers.ts';
