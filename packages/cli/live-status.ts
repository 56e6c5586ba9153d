import { totalmem } from 'node:os';
import { Box, render, Text, useApp, useInput } from 'ink';
import { createElement as h, useEffect, useState } from 'react';
import type { Server } from './server.ts';
void totalmem; void Box; void render; void Text; void useApp; void useInput; void h; void useEffect; void useState;
export function showLiveStatus(_server: Server, _options: { logFile: string; onQuit: () => void }): void {}
