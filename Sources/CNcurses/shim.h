/* What ncurses offers to atriumctl: the terminal as a screen of cells. Its attributes, keys and the codes
   of the mouse are macros that Swift does not see. */
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>

static const attr_t ncurses_bold = A_BOLD;
static const attr_t ncurses_dim = A_DIM;
static const attr_t ncurses_reverse = A_REVERSE;
static const attr_t ncurses_underline = A_UNDERLINE;
static const int ncurses_is_key = KEY_CODE_YES;
static const int ncurses_failed = ERR;

static const mmask_t ncurses_mouse_clicked = BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED;
static const mmask_t ncurses_mouse_wheel_up = BUTTON4_PRESSED;
static const mmask_t ncurses_mouse_wheel_down = BUTTON5_PRESSED;
