/**
 * Set-up of the tests that run beside the chaos run: what that does in a second, it is to do in a second beside them, too. A third of
 * its share is left to them, since a server that starts is given seconds only.
 */
import { setPriority } from 'node:os';

setPriority(5);
