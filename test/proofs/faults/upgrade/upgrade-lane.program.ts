import { serveApart } from '../kill/apart.ts';
import { startUpgradeLane } from './upgrade-lane.ts';

serveApart(startUpgradeLane);
