import { serveApart } from './apart.ts';
import { startJobLane } from './job-lane.ts';

serveApart(startJobLane);
