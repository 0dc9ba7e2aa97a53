import { liveManyLives } from './many-lives.ts';

liveManyLives(20_001, 80_000);
