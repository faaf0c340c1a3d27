import { serveApart } from './apart.ts';
import { startRequestLane } from './request-lane.ts';

serveApart(startRequestLane);
