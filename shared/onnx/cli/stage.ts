import { enableCompileCache } from 'node:module';
import { compileCache } from './compile-cache.ts';

// The user of the command runs both, so the cache is nobody else's.
enableCompileCache(compileCache);
await import('../stage/main.ts');
