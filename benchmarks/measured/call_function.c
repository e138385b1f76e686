// Calls `function`, whatever it is, with the arguments of the command line, for `hexsim kernel --run`.
//
//     program ARGUMENT ...
//
// An argument is a number, or a letter from a to j for a buffer of 8 MiB, with an offset: "a+256".
// Further parameters are 0. It needs no C library.
#define BUFFERS 10
#define MOST 20

void function(int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
              int, int, int);

__attribute__((aligned(65536))) unsigned char buffers[BUFFERS][8 << 20];
static int a[MOST];

static int value(const char *word) {
  int base = 0, sign = 1, number = 0;
  if (*word >= 'a' && *word < 'a' + BUFFERS)
    base = (int)buffers[*word++ - 'a'];
  for (; *word; ++word)
    if (*word == '-')
      sign = -1;
    else if (*word != '+')
      number = 10 * number + *word - '0';
  return base + sign * number;
}

void begin(int *stack) {
  register int r0 __asm__("r0") = 0, r6 __asm__("r6") = 94; // exit_group
  for (int i = 1; i < stack[0] && i <= MOST; ++i)
    a[i - 1] = value(((char **)stack)[i + 1]);
  function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
           a[14], a[15], a[16], a[17], a[18], a[19]);
  r0 = 0;
  r6 = 94;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6) : "memory");
}

__asm__(".globl _start\n"
        ".type _start,@function\n"
        "_start: { r0 = r29\n r29 = add(r29,#-128)\n jump begin }\n");
