import { serveApart } from './apart.ts';
import { startDeleteLane } from './delete-lane.ts';

serveApart(startDeleteLane);
